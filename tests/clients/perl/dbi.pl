# DBI by DBD::mysql, DBD::MariaDB and DBD::Pg: what drivers tell of tables, columns and keys, statements of both kinds, rows and errors.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use DBI qw(:sql_types);
use Tour;

# The driver: `mysql`, `MariaDB` or `Pg`.
my $driver = $ENV{TOUR_DRIVER} || ($place{mysql} ? 'MariaDB' : 'Pg');
my $dsn = $driver eq 'Pg' ? "dbi:Pg:dbname=$place{database};host=$place{host};port=$place{port}" : "dbi:$driver:database=$place{database};host=$place{host};port=$place{port}";
my $is_pg = $driver eq 'Pg';

sub connected {
    my (%more) = @_;
    my %unicode = $is_pg ? () : $driver eq 'mysql' ? (mysql_enable_utf8mb4 => 1) : ();
    return DBI->connect($dsn, $place{user}, $place{password}, {RaiseError => 1, PrintError => 0, AutoCommit => 1, %unicode, %more});
}
my $db = connected();
my $native = $is_pg ? connected(pg_server_prepare => 1) : connected($driver eq 'mysql' ? (mysql_server_prepare => 1) : (mariadb_server_prepare => 1));
my @both = ($db, $native);
sub attribute { my ($name) = @_; return $is_pg ? "pg_$name" : lc($driver) . "_$name" }

step 'the server', sub { [map { defined $_ ? 1 : 0 } $db->get_info(17), $db->get_info(18)], $db->get_info(29), $db->get_info(41), $db->{Name} =~ /store/ ? 1 : 0, $db->ping, $db->{AutoCommit}, $db->quote("it's \\ \"x\"\n"), $db->quote_identifier('a', 'b'), $db->quote(undef), $db->quote(5, SQL_INTEGER) };
step 'tables', sub {
    $db->do($is_pg
        ? q{CREATE TABLE people (id SERIAL PRIMARY KEY, name VARCHAR(80) NOT NULL, email TEXT NOT NULL UNIQUE, age SMALLINT DEFAULT 18, admin BOOLEAN NOT NULL DEFAULT false, balance NUMERIC(14, 4) DEFAULT 1.5, born DATE, seen TIMESTAMP(3), zoned TIMESTAMPTZ, at TIME, rating DOUBLE PRECISION, small REAL, photo BYTEA, doc JSONB, words TEXT[], key UUID, code CHAR(5), big BIGINT, CHECK (age >= 0))}
        : q{CREATE TABLE people (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(80) NOT NULL COMMENT 'a name', email VARCHAR(100) NOT NULL UNIQUE, age SMALLINT DEFAULT 18, admin BOOLEAN NOT NULL DEFAULT false, balance DECIMAL(14, 4) DEFAULT 1.5, born DATE, seen DATETIME(3), zoned TIMESTAMP NULL, at TIME, rating DOUBLE, small FLOAT, photo BLOB, doc TEXT, kind ENUM('a', 'b') DEFAULT 'a', parts SET('x', 'y'), code CHAR(5), big BIGINT, ubig BIGINT UNSIGNED, bits BIT(9), year YEAR, fixed BINARY(4), CHECK (age >= 0))});
    $db->do('CREATE TABLE books (id ' . ($is_pg ? 'BIGSERIAL' : 'BIGINT AUTO_INCREMENT') . ' PRIMARY KEY, person_id ' . ($is_pg ? 'INT' : 'INT UNSIGNED') . ' NOT NULL, title VARCHAR(100), n INT, UNIQUE (person_id, title), CONSTRAINT to_person FOREIGN KEY (person_id) REFERENCES people (id) ON DELETE CASCADE ON UPDATE RESTRICT)');
    $db->do('CREATE TABLE pairs (a INT, b INT, c TEXT, PRIMARY KEY (b, a))');
    $db->do('CREATE INDEX by_n ON books (n, title)');
    $db->do('CREATE VIEW grown AS SELECT id, name FROM people WHERE age > 17');
};
sub listed {
    my ($statement, @columns) = @_;
    return [undef] unless $statement;
    return map { my $row = $_; [map { $row->{$_} } @columns] } @{$statement->fetchall_arrayref({})};
}
my $schema = $is_pg ? 'public' : undef;
my $catalog = $is_pg ? undef : $place{database};
step 'table_info', sub { listed($db->table_info(undef, $schema, '%', 'TABLE,VIEW'), qw(TABLE_NAME TABLE_TYPE)), listed($db->table_info(undef, $schema, 'boo%'), qw(TABLE_NAME TABLE_TYPE)), [sort grep { /people|books|pairs|grown/ } $db->tables(undef, $schema, '%', 'TABLE')] };
step 'column_info', sub { map { my $table = $_; ["-- $table"], listed($db->column_info($catalog, $schema, $table, '%'), qw(COLUMN_NAME DATA_TYPE TYPE_NAME COLUMN_SIZE DECIMAL_DIGITS NULLABLE COLUMN_DEF ORDINAL_POSITION IS_NULLABLE REMARKS), $is_pg ? qw(pg_type) : (lc($driver) . '_type_name', lc($driver) . '_is_pri_key', lc($driver) . '_is_auto_increment')) } qw(people books grown) };
step 'primary_key_info', sub { listed($db->primary_key_info($catalog, $schema, 'pairs'), qw(COLUMN_NAME KEY_SEQ)), [$db->primary_key($catalog, $schema, 'books')], [$db->primary_key($catalog, $schema, 'grown')] };
step 'foreign_key_info', sub { listed($db->foreign_key_info($catalog, $schema, 'people', $catalog, $schema, 'books'), $is_pg ? qw(UK_TABLE_NAME UK_COLUMN_NAME FK_TABLE_NAME FK_COLUMN_NAME FK_NAME UPDATE_RULE DELETE_RULE ORDINAL_POSITION) : qw(PKTABLE_NAME PKCOLUMN_NAME FKTABLE_NAME FKCOLUMN_NAME FK_NAME KEY_SEQ)) };
step 'statistics_info', sub { my $found = eval { $db->statistics_info($catalog, $schema, 'books', 0, 0) }; sort { "@$a" cmp "@$b" } map { [map { $_ // '-' } @$_] } $found ? listed($found, qw(TABLE_NAME NON_UNIQUE INDEX_NAME TYPE ORDINAL_POSITION COLUMN_NAME)) : () };
step 'type_info', sub { map { [@$_{qw(TYPE_NAME DATA_TYPE COLUMN_SIZE)}] } grep { ref } scalar $db->type_info(SQL_INTEGER), scalar $db->type_info(SQL_VARCHAR) };
my @row = $is_pg
    ? ([name => 'Žluť 🐎'], [email => 'a@x.cz'], [age => 30], [admin => 1], [balance => '1234567890.1234'], [born => '1990-02-28'], [seen => '2024-02-29 23:59:59.123'], [zoned => '2024-02-29 23:59:59+02'], [at => '08:30:00'], [rating => 4.125], [small => 0.5], [doc => '{"b": 1, "a": [1, 2.50, null]}'], [words => ['ž', 'a,b', undef]], [key => '6fa459ea-ee8a-3ca4-894e-db77e160355e'], [code => 'ab'], [big => '-9223372036854775808'])
    : ([name => 'Žluť 🐎'], [email => 'a@x.cz'], [age => 30], [admin => 1], [balance => '1234567890.1234'], [born => '1990-02-28'], [seen => '2024-02-29 23:59:59.123'], [zoned => '2024-02-29 23:59:59'], [at => '-08:30:00'], [rating => 4.125], [small => 0.5], [doc => '{"a": [1, 2.5, null]}'], [kind => 'b'], [parts => 'x,y'], [code => 'ab'], [big => '-9223372036854775808'], [ubig => '18446744073709551615'], [year => 2024]);
step 'a row in both ways', sub {
    my @found;
    my $at = 0;
    for my $handle (@both) {
        my @one = map { [$_->[0], $_->[0] eq 'email' && $at ? 'b@x.cz' : $_->[1]] } @row;
        my $statement = $handle->prepare('INSERT INTO people (' . join(', ', map { $_->[0] } @one) . ') VALUES (' . join(', ', ('?') x @one) . ')');
        push @found, [$statement->execute(map { $_->[1] } @one), $statement->rows, $statement->{NUM_OF_PARAMS}, $handle->last_insert_id(undef, $schema, 'people', 'id')];
        $at++;
    }
    my $bytes = "\x00\xff'\\\x80";
    for my $handle (@both) {
        my $statement = $handle->prepare('UPDATE people SET photo = ? WHERE id = ?');
        $statement->bind_param(1, $bytes, $is_pg ? {pg_type => DBD::Pg::PG_BYTEA()} : SQL_BLOB);
        $statement->bind_param(2, 1, SQL_INTEGER);
        push @found, $statement->execute;
    }
    return (@found, map { $_->selectrow_hashref('SELECT * FROM people WHERE id = ?', undef, 1) } @both);
};
step 'what a statement is told', sub {
    map {
        my $statement = $_->prepare('SELECT * FROM people WHERE id = ?');
        $statement->execute(1);
        my @found = ($statement->{NUM_OF_FIELDS}, $statement->{NAME}, $statement->{TYPE}, $statement->{NULLABLE}, $is_pg ? ($statement->{pg_type}, $statement->{PRECISION}, $statement->{SCALE}) : ($statement->{attribute('type')}, $statement->{attribute('is_num')}, $statement->{attribute('is_key')}, $statement->{attribute('is_pri_key')}, $statement->{attribute('is_auto_increment')}, $statement->{attribute('type_name')}, $statement->{attribute('table')}));
        $statement->finish;
        @found;
    } @both;
};
step 'ways to fetch', sub {
    $db->do('INSERT INTO books (person_id, title, n) VALUES (1, ?, ?), (1, ?, ?), (2, ?, ?)', undef, 'one', 1, 'two', undef, 'ž', 3);
    map {
        my $handle = $_;
        my $statement = $handle->prepare('SELECT id, title, n FROM books ORDER BY id');
        $statement->execute;
        $statement->bind_columns(\my ($id, $title, $n));
        my @bound;
        push @bound, [$id, $title, $n] while $statement->fetch;
        my ($first) = $handle->selectrow_array('SELECT title FROM books WHERE n = ?', undef, 3);
        (\@bound, $handle->selectall_arrayref('SELECT id, title FROM books ORDER BY id', {Slice => {}}), $handle->selectcol_arrayref('SELECT title FROM books ORDER BY id'), $handle->selectall_hashref('SELECT id, title FROM books', 'id'), $handle->selectrow_arrayref('SELECT COUNT(*), SUM(n), AVG(n) FROM books'), $first, $handle->selectall_arrayref('SELECT id FROM books ORDER BY id', {MaxRows => 2}), [$handle->selectrow_array('SELECT id FROM books WHERE id = 99')]);
    } @both;
};
step 'counts', sub {
    map { [$_->do('UPDATE books SET n = 5 WHERE n = 1'), $_->do('UPDATE books SET n = 5 WHERE n = 5'), $_->do('UPDATE books SET n = 1 WHERE n = 5'), $_->do('DELETE FROM books WHERE id = 99'), $_->do('CREATE TABLE made (id INT)'), $_->do('DROP TABLE made'), $_->prepare('SELECT id FROM books')->execute] } @both;
};
step 'many rows of one statement', sub {
    map {
        my $statement = $_->prepare('INSERT INTO pairs (a, b, c) VALUES (?, ?, ?)');
        my $done = $statement->execute_array({ArrayTupleStatus => \my @status}, [1, 2, 3], [7, 8, 9], ['x', undef, 'ž']);
        my @found = ($done, \@status, $_->selectall_arrayref('SELECT * FROM pairs ORDER BY a'));
        my $again = eval { $statement->execute_array({ArrayTupleStatus => \my @other}, [3, 4], [9, 9], ['dup', 'new']); 1 };
        $_->do('DELETE FROM pairs');
        (@found, $again ? 'went' : told($@) =~ s/executing.*//r);
    } @both;
};
step 'parameters', sub { map { [$_->selectrow_array($is_pg ? 'SELECT ?::int + 1, ?::text, ?::numeric, ?::text' : 'SELECT ? + 1, CONCAT(?, ?), ?', undef, 41, "it's \\", 1.5, undef)] } @both };
step 'transactions', sub {
    my @found;
    for my $handle (@both) {
        $handle->begin_work;
        $handle->do("UPDATE people SET name = 'in' WHERE id = 2");
        push @found, [$handle->{AutoCommit}, $handle->rollback, $handle->{AutoCommit}, $handle->selectrow_array('SELECT name FROM people WHERE id = 2')];
        local $handle->{AutoCommit} = 0;
        $handle->do("UPDATE people SET name = 'kept' WHERE id = 2");
        if ($is_pg) { $handle->pg_savepoint('a') } else { $handle->do('SAVEPOINT a') }
        push @found, refused(sub { $handle->do("INSERT INTO people (name, email) VALUES ('x', 'a\@x.cz')") });
        if ($is_pg) { $handle->pg_rollback_to('a') } else { $handle->do('ROLLBACK TO SAVEPOINT a') }
        $handle->commit;
        push @found, $handle->selectrow_array('SELECT name FROM people WHERE id = 2');
        $handle->commit;
    }
    return @found;
};
step 'a lock that is waited for', sub {
    $native->do($is_pg ? "SET lock_timeout = '300ms'" : 'SET innodb_lock_wait_timeout = 1');
    $db->begin_work;
    $db->do('SELECT * FROM people WHERE id = 1 FOR UPDATE');
    my @found = (refused(sub { $native->do('UPDATE people SET age = 1 WHERE id = 1') }), refused(sub { $native->selectrow_array('SELECT id FROM people WHERE id = 1 FOR UPDATE NOWAIT') }), $native->selectcol_arrayref('SELECT id FROM people ORDER BY id FOR UPDATE SKIP LOCKED'));
    $db->rollback;
    return @found;
};
step 'errors', sub {
    map {
        my $handle = $_;
        map { my $sql = $_; [substr($sql, 0, 40), scalar eval { refused(sub { my $statement = $handle->prepare($sql); $statement->execute }) }] } (
            'SELEC 1', 'SELECT * FROM nothing', 'SELECT nope FROM people', q{INSERT INTO people (name, email) VALUES ('x', 'a@x.cz')}, q{INSERT INTO people (email) VALUES ('y')}, q{INSERT INTO people (name, email, age) VALUES ('x', 'y', 99999)}, q{INSERT INTO people (name, email, age) VALUES ('x', 'y', -1)}, q{INSERT INTO people (name, email, born) VALUES ('x', 'y', '2024-02-30')},
            q{INSERT INTO people (name, email, code) VALUES ('x', 'y', 'abcdef')}, q{INSERT INTO books (person_id, title) VALUES (99, 'x')}, q{INSERT INTO people (name, email, balance) VALUES ('x', 'y', 'much')}, 'DROP TABLE people', 'DROP TABLE nothing', 'CREATE TABLE people (id INT)', 'SELECT nosuch(1)', 'SELECT name FROM people, books WHERE id = 1', 'INSERT INTO pairs VALUES (1)', 'SELECT (SELECT id FROM books)',
        );
    } @both;
};
step 'a connection that is refused', sub { refused(sub { DBI->connect($dsn =~ s/$place{database}/nowhere/r, $place{user}, $place{password}, {RaiseError => 1, PrintError => 0}) }) =~ s/^.*?connect\([^)]*\) failed: //r };
if ($is_pg) {
    step 'copies', sub {
        $db->do('COPY pairs (a, b, c) FROM STDIN');
        $db->pg_putcopydata("1\t2\tž\n");
        $db->pg_putcopydata("3\t4\t\\N\n5\t6\tback\\\\slash\n");
        $db->pg_putcopyend;
        my @found = ($db->selectall_arrayref('SELECT * FROM pairs ORDER BY a'));
        $db->do("COPY (SELECT * FROM pairs ORDER BY a) TO STDOUT (FORMAT csv, HEADER)");
        my $line = '';
        push @found, $line while $db->pg_getcopydata($line) >= 0;
        $db->do('COPY pairs FROM STDIN');
        $db->pg_putcopydata("x\ty\tz\n");
        return (@found, refused(sub { $db->pg_putcopyend }), $db->selectrow_array('SELECT 1'));
    };
    step 'notifications', sub {
        $db->do('LISTEN news');
        $native->do(q{NOTIFY news, 'žluť'});
        my $got;
        for (1 .. 50) { last if $got = $db->pg_notifies; select undef, undef, undef, 0.02 }
        return ([$got->[0], $got->[1] == $native->{pg_pid} ? 'same' : 'other', $got->[2]], $db->pg_notifies // 'none');
    };
    step 'asynchronous statements', sub {
        my $statement = $db->prepare('SELECT pg_sleep(0.05), 7', {pg_async => DBD::Pg::PG_ASYNC()});
        $statement->execute;
        my $waited = 0;
        until ($db->pg_ready) { $waited = 1; select undef, undef, undef, 0.01 }
        my @found = ($waited, $statement->pg_result, $statement->fetchrow_arrayref->[1]);
        $db->do('SELECT pg_sleep(20)', {pg_async => DBD::Pg::PG_ASYNC()});
        # A server forgets what it is asked before it has begun.
        select undef, undef, undef, 0.1;
        return (@found, $db->pg_cancel, $db->selectrow_array('SELECT 2'));
    };
    step 'arrays and numbers', sub { $db->selectrow_arrayref(q{SELECT ARRAY[1, NULL, 3], ARRAY['a', 'b,c', NULL, 'ž'], ARRAY[[1, 2], [3, 4]], true, false, 'x'::"char", 12.50, 1e100::float8, 'NaN'::float8}), $db->selectrow_array('SELECT ? = ANY (?::text[])', undef, 'ž', ['a', 'ž']), $db->selectrow_array('SELECT id FROM people WHERE doc @> ?::jsonb AND words && ?', undef, '{"b": 1}', ['ž']), $db->selectrow_array(q{SELECT 1 WHERE '{"a": 1}'::jsonb \? 'a'}) };
    step 'cursors', sub {
        $db->begin_work;
        $db->do('DECLARE c SCROLL CURSOR FOR SELECT g FROM generate_series(1, 100) g');
        my @found = ($db->selectcol_arrayref('FETCH 3 FROM c'), $db->selectcol_arrayref('FETCH LAST FROM c'), $db->selectcol_arrayref('FETCH BACKWARD 2 FROM c'), $db->do('MOVE ABSOLUTE 50 IN c'), $db->selectcol_arrayref('FETCH NEXT FROM c'));
        $db->do('CLOSE c');
        $db->commit;
        return @found;
    };
    step 'large objects', sub {
        $db->begin_work;
        my $oid = $db->pg_lo_creat($db->{pg_INV_WRITE});
        my $fd = $db->pg_lo_open($oid, $db->{pg_INV_WRITE});
        my $buffer = '';
        my @found = ($fd >= 0, $db->pg_lo_write($fd, "bytes\x00more", 10), $db->pg_lo_lseek($fd, 2, 0), $db->pg_lo_read($fd, $buffer, 4), "$buffer", $db->pg_lo_tell($fd), $db->pg_lo_close($fd), $db->pg_lo_unlink($oid));
        $db->commit;
        return @found;
    };
} else {
    step 'several results', sub {
        $db->do('CREATE PROCEDURE two(IN n INT) BEGIN SELECT n AS a; SELECT n + 1 AS b, "ž" AS c; END');
        map {
            my $statement = $_->prepare('CALL two(?)');
            $statement->execute(4);
            my @found;
            do { push @found, [@{$statement->{NAME}}], $statement->fetchall_arrayref if $statement->{NUM_OF_FIELDS} } while $statement->more_results;
            @found;
        } $db;
    };
    step 'rows as they come', sub {
        my $statement = $db->prepare('WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n', {attribute('use_result') => 1});
        $statement->execute;
        my $sum = 0;
        while (my ($n) = $statement->fetchrow_array) { $sum += $n }
        undef $statement;
        return ($sum, $db->selectrow_array('SELECT 1'));
    };
    step 'warnings, words and numbers', sub {
        $db->do("INSERT IGNORE INTO people (name, email) VALUES ('x', 'a\@x.cz')");
        my @found = ([$db->{attribute('info')}, $db->{attribute($driver eq 'mysql' ? 'warning_count' : 'warning_count')}], $db->selectall_arrayref('SHOW WARNINGS'));
        $db->do("UPDATE people SET age = age + 1");
        push @found, $db->{attribute('info')};
        $db->do("INSERT INTO pairs (a, b) VALUES (1, 1), (2, 2)");
        return (@found, $db->{attribute('info')}, $db->{attribute('insertid')}, $db->{attribute('thread_id')} > 0 ? 1 : 0, $db->selectrow_arrayref('SELECT LAST_INSERT_ID() > 0'));
    };
}
$_->disconnect for @both;
