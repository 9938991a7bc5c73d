# DBIx::Class, and its loader, which reads classes out of a database: deployed schemas, rows, relations, sets, locks.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use Tour;

BEGIN { $ENV{DBIC_OVERWRITE_HELPER_METHODS_OK} = 1 }
my $dsn = $place{mysql} ? "dbi:mysql:database=$place{database};host=$place{host};port=$place{port}" : "dbi:Pg:dbname=$place{database};host=$place{host};port=$place{port}";

package Shop::Schema::Result::Person {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('people');
    __PACKAGE__->add_columns(
        id => {data_type => 'integer', is_auto_increment => 1}, name => {data_type => 'varchar', size => 80}, email => {data_type => 'varchar', size => 100}, age => {data_type => 'smallint', is_nullable => 1, default_value => 18},
        balance => {data_type => 'decimal', size => [14, 4], default_value => 0}, born => {data_type => 'date', is_nullable => 1}, note => {data_type => 'text', is_nullable => 1}, boss_id => {data_type => 'integer', is_nullable => 1},
    );
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->add_unique_constraint(one_email => ['email']);
    __PACKAGE__->has_many(books => 'Shop::Schema::Result::Book', 'person_id');
    __PACKAGE__->belongs_to(boss => 'Shop::Schema::Result::Person', 'boss_id', {join_type => 'left', on_delete => 'SET NULL'});
    __PACKAGE__->has_many(staff => 'Shop::Schema::Result::Person', 'boss_id');
    sub sqlt_deploy_hook { $_[1]->add_index(name => 'by_name', fields => ['name', 'age']) }
}
package Shop::Schema::Result::Book {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('books');
    __PACKAGE__->add_columns(id => {data_type => 'bigint', is_auto_increment => 1}, person_id => {data_type => 'integer'}, title => {data_type => 'varchar', size => 100}, copies => {data_type => 'integer', default_value => 1}, price => {data_type => 'decimal', size => [8, 2], is_nullable => 1});
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->add_unique_constraint(one_title => ['person_id', 'title']);
    __PACKAGE__->belongs_to(person => 'Shop::Schema::Result::Person', 'person_id');
    __PACKAGE__->has_many(book_tags => 'Shop::Schema::Result::BookTag', 'book_id');
    __PACKAGE__->many_to_many(tags => 'book_tags', 'tag');
}
package Shop::Schema::Result::Tag {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('tags');
    __PACKAGE__->add_columns(code => {data_type => 'varchar', size => 20});
    __PACKAGE__->set_primary_key('code');
    __PACKAGE__->has_many(book_tags => 'Shop::Schema::Result::BookTag', 'tag_code');
}
package Shop::Schema::Result::BookTag {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('book_tags');
    __PACKAGE__->add_columns(book_id => {data_type => 'bigint'}, tag_code => {data_type => 'varchar', size => 20}, place => {data_type => 'integer', default_value => 0});
    __PACKAGE__->set_primary_key('book_id', 'tag_code');
    __PACKAGE__->belongs_to(book => 'Shop::Schema::Result::Book', 'book_id');
    __PACKAGE__->belongs_to(tag => 'Shop::Schema::Result::Tag', 'tag_code');
}
package Shop::Schema {
    use base 'DBIx::Class::Schema';
    __PACKAGE__->register_class($_ => "Shop::Schema::Result::$_") for qw(Person Book Tag BookTag);
}

package main;

sub connected { Shop::Schema->connect($dsn, $place{user}, $place{password}, {AutoCommit => 1, RaiseError => 1, PrintError => 0, quote_names => 1, $place{mysql} ? (mysql_enable_utf8mb4 => 1) : (pg_enable_utf8 => 1)}) }
my $schema = connected();
sub rs { $schema->resultset($_[0]) }
sub rows { map { +{$_->get_columns} } @_ }

step 'a schema is made', sub {
    my @sql = map { s/^\s+|\s+$//gr =~ s/\s+/ /gr } grep { /\S/ && !/^--/ } map { split /;\n/ } $schema->deployment_statements($place{mysql} ? 'MySQL' : 'PostgreSQL', undef, undef, {add_drop_table => 0, no_comments => 1});
    $schema->storage->dbh->do($_) for grep { !/^(?:BEGIN|COMMIT)$/ } @sql;
    return (scalar @sql, $schema->storage->sqlt_type, $schema->storage->connected ? 1 : 0);
};
step 'rows that are made', sub {
    my $ada = rs('Person')->create({name => 'Žluť 🐎', email => 'a@x.cz', age => 30, balance => '1234567890.1234', born => '1990-02-28', note => "it's \\ \"x\"\n"});
    my $bob = rs('Person')->create({name => 'B', email => 'b@x.cz', boss => $ada});
    my $book = $ada->create_related(books => {title => 'First', copies => 5, price => '12.50'});
    return ($ada->id, rows($ada->discard_changes), $bob->id, $bob->discard_changes->age, $book->id, rows(rs('Book')->find(1)), $bob->boss->name, $ada->staff->count, rs('Person')->find({email => 'b@x.cz'}, {key => 'one_email'})->id);
};
step 'many rows at once', sub {
    rs('Book')->populate([[qw(person_id title copies price)], map { [1 + $_ % 2, "Book $_", $_, $_ % 3 ? "$_.5" : undef] } 1 .. 20]);
    rs('Person')->populate([{name => 'C', email => 'c@x.cz', books => [{title => 'of C', copies => 3}, {title => 'also of C', copies => 4}]}]);
    rs('Tag')->populate([['code'], ['new'], ['old'], ['ž']]);
    return (rs('Book')->count, rs('Person')->find({email => 'c@x.cz'})->books->count, [map { $_->code } rs('Tag')->search(undef, {order_by => 'code'})]);
};
step 'sets', sub {
    my $books = rs('Book');
    return ([$books->search({copies => {-between => [5, 8]}}, {order_by => 'id'})->get_column('title')->all], $books->search({price => undef})->count, $books->search({title => {-like => 'Book 1%'}, -or => [copies => {'>' => 15}, price => {'<' => 12}]}, {order_by => {-desc => 'id'}})->get_column('id')->all, $books->get_column('copies')->sum, $books->get_column('price')->max, $books->search({copies => {-in => [1, 2, 99]}})->count,
        rows($books->search(undef, {select => ['person_id', {count => 'id', -as => 'n'}, {sum => 'copies'}], as => [qw(person_id n copies)], group_by => 'person_id', having => {'n' => {'>' => 1}}, order_by => 'person_id'})) ) if $place{mysql};
    return ([$books->search({copies => {-between => [5, 8]}}, {order_by => 'id'})->get_column('title')->all], $books->search({price => undef})->count, $books->search({title => {-like => 'Book 1%'}, -or => [copies => {'>' => 15}, price => {'<' => 12}]}, {order_by => {-desc => 'id'}})->get_column('id')->all, $books->get_column('copies')->sum, $books->get_column('price')->max, $books->search({copies => {-in => [1, 2, 99]}})->count,
        rows($books->search(undef, {select => ['person_id', {count => 'id', -as => 'n'}, {sum => 'copies'}], as => [qw(person_id n copies)], group_by => 'person_id', having => \'count(id) > 1', order_by => 'person_id'})));
};
step 'pages', sub {
    my $page = rs('Book')->search(undef, {order_by => 'id', rows => 5, page => 3});
    return ([map { $_->id } $page->all], $page->pager->total_entries, $page->pager->last_page, [map { $_->id } rs('Book')->search(undef, {order_by => 'id'})->slice(2, 4)], rs('Book')->search(undef, {order_by => 'id'})->first->title, rs('Book')->search(undef, {rows => 3})->count, scalar(rs('Book')->search(undef, {order_by => 'id', rows => 2})->search_related('person', undef, {distinct => 1})->all));
};
step 'joins and what is fetched along', sub {
    my $with = rs('Person')->search({'me.id' => {'<' => 3}}, {prefetch => 'books', order_by => ['me.id', 'books.id']});
    my @found = map { [$_->email, scalar $_->books->all] } $with->all;
    return (@found, [map { [$_->title, $_->person->email] } rs('Book')->search({'person.email' => 'c@x.cz'}, {join => 'person', '+columns' => {who => 'person.email'}, order_by => 'me.id'})], rs('Person')->search({'books.copies' => {'>' => 18}}, {join => 'books', distinct => 1})->count, rs('Book')->search_related('person', {email => 'a@x.cz'})->count,
        [map { $_->id } rs('Person')->search({id => {-in => rs('Book')->search({copies => {'>' => 19}})->get_column('person_id')->as_query}})->all], rs('Person')->search(undef, {prefetch => {books => {book_tags => 'tag'}}, order_by => 'me.id'})->count);
};
step 'many to many', sub {
    my $book = rs('Book')->find(1);
    $book->add_to_tags({code => 'new'}, {place => 2});
    $book->add_to_tags(rs('Tag')->find('ž'));
    my @found = ([sort map { $_->code } $book->tags->all], [map { $_->place } $book->book_tags->search(undef, {order_by => 'tag_code'})]);
    $book->set_tags([{code => 'old'}]);
    push @found, [map { $_->code } $book->tags->all];
    $book->remove_from_tags(rs('Tag')->find('old'));
    return (@found, $book->tags->count);
};
step 'changes', sub {
    my $book = rs('Book')->find(2);
    my @found = ($book->update({copies => 50}) ? $book->copies : undef, $book->is_changed ? 1 : 0, rs('Book')->search({copies => {'<' => 3}})->update({price => \'price + 1'}), rs('Book')->search({copies => 50})->update({copies => 50}), rs('Book')->search({title => 'Book 20'})->delete, rs('Book')->update_or_create({person_id => 1, title => 'First', copies => 7}, {key => 'one_title'})->copies, rs('Tag')->find_or_create({code => 'fresh'})->code, rs('Tag')->find_or_new({code => 'none'})->in_storage ? 1 : 0);
    $book->copies(\'copies + 1');
    $book->update;
    push @found, $book->discard_changes->copies, rs('Book')->search({'person.email' => 'c@x.cz'}, {join => 'person'})->delete, rs('Person')->find({email => 'c@x.cz'})->delete->in_storage ? 1 : 0;
    return @found;
};
step 'transactions and savepoints', sub {
    my @found;
    push @found, refused(sub { $schema->txn_do(sub { rs('Person')->find(1)->update({age => 99}); die "back\n" }) });
    $schema->txn_do(sub {
        rs('Person')->find(1)->update({age => 40});
        eval { $schema->storage->svp_begin('a'); rs('Person')->create({name => 'x', email => 'a@x.cz'}); 1 } or push @found, told($@);
        $schema->storage->svp_rollback('a');
        push @found, rs('Person')->find(1)->age;
    });
    my $guard = $schema->txn_scope_guard;
    rs('Person')->find(1)->update({age => 41});
    $guard->commit;
    return (@found, rs('Person')->find(1)->age, $schema->storage->transaction_depth);
};
step 'a lock that is waited for', sub {
    my $other = connected();
    $other->storage->dbh->do($place{mysql} ? 'SET innodb_lock_wait_timeout = 1' : "SET lock_timeout = '300ms'");
    my @found;
    $schema->txn_do(sub {
        push @found, rs('Person')->search({id => 1}, {for => 'update'})->single->id;
        push @found, refused(sub { $other->resultset('Person')->find(1)->update({age => 1}) });
    });
    push @found, $other->resultset('Person')->search({id => 1}, {for => 'shared'})->count;
    $other->storage->disconnect;
    return @found;
};
step 'errors', sub {
    map { refused($_) } (
        sub { rs('Person')->create({name => 'x', email => 'a@x.cz'}) }, sub { rs('Person')->create({email => 'no name'}) }, sub { rs('Book')->create({person_id => 99, title => 'x'}) }, sub { rs('Person')->create({name => 'x' x 81, email => 'y'}) }, sub { rs('Person')->create({name => 'x', email => 'y', age => 99999}) }, sub { rs('Person')->search({nope => 1})->all }, sub { rs('Person')->create({name => 'x', email => 'y', born => '2024-02-30'}) }, sub { $schema->storage->dbh_do(sub { $_[1]->do('SELEC') }) },
    );
};
step 'classes out of the database', sub {
    require DBIx::Class::Schema::Loader;
    my $made = DBIx::Class::Schema::Loader::make_schema_at('Read::Schema', {naming => 'current', quiet => 1, ($place{mysql} ? () : (db_schema => 'public'))}, [$dsn, $place{user}, $place{password}, {$place{mysql} ? (mysql_enable_utf8mb4 => 1) : (pg_enable_utf8 => 1)}]) && 'Read::Schema';
    my @found;
    for my $name (sort $made->sources) {
        my $source = $made->source($name);
        push @found, [$name, $source->from =~ s/.*\.//r, [$source->primary_columns], {map { my $name = $_; $name => [map { s/^public\.//r } $source->unique_constraint_columns($name)] } $source->unique_constraint_names}];
        for my $column ($source->columns) {
            my $info = $source->column_info($column);
            push @found, [$column, map { my $one = $info->{$_}; ref $one eq 'SCALAR' ? "\\$$one" : $one } qw(data_type size is_nullable default_value is_auto_increment is_foreign_key extra)];
        }
        push @found, [map { my $info = $source->relationship_info($_); [$_, $info->{class} =~ s/.*:://r, $info->{attrs}{accessor}, $info->{attrs}{on_delete}, $info->{attrs}{on_update}] } sort $source->relationships];
    }
    return (@found, $made->connect($dsn, $place{user}, $place{password})->resultset('Book')->search(undef, {order_by => 'id'})->first->person->email);
};
$schema->storage->disconnect;
