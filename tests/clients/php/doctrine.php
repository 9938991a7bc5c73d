<?php
// Doctrine's DBAL 3 and ORM 2.14: the tool that makes a schema of classes and finds nothing to do the second time, DQL, types, events, locks.
require __DIR__ . '/tour.php';
require '/usr/share/php/Doctrine/ORM/autoload.php';

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\Common\Collections\Criteria;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\LockMode;
use Doctrine\DBAL\ParameterType;
use Doctrine\DBAL\Schema\Comparator;
use Doctrine\DBAL\Schema\Schema;
use Doctrine\DBAL\Types\Types;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Tools\Pagination\Paginator;
use Doctrine\ORM\Tools\SchemaTool;
use Doctrine\ORM\Tools\SchemaValidator;

enum Suit: string {
    case Hearts = 'H';
    case Spades = 'S';
}
#[ORM\Embeddable]
class Address {
    #[ORM\Column(length: 50, nullable: true)] public ?string $street = null;
    #[ORM\Column(length: 30, options: ['default' => 'Praha'])] public string $city = 'Praha';
}
#[ORM\Entity, ORM\Table(name: 'people', options: ['comment' => 'who buys'])]
#[ORM\Index(columns: ['name', 'born'], name: 'by_name')]
#[ORM\UniqueConstraint(name: 'one_email', columns: ['email'])]
#[ORM\InheritanceType('SINGLE_TABLE'), ORM\DiscriminatorColumn(name: 'kind', type: 'string', length: 10), ORM\DiscriminatorMap(['person' => Person::class, 'clerk' => Clerk::class])]
class Person {
    #[ORM\Id, ORM\GeneratedValue, ORM\Column] public ?int $id = null;
    #[ORM\Column(length: 100, options: ['comment' => 'full name'])] public string $name;
    #[ORM\Column(length: 180)] public string $email;
    #[ORM\Column(type: 'date_immutable', nullable: true)] public ?DateTimeImmutable $born = null;
    #[ORM\Column(type: 'json', nullable: true)] public ?array $settings = null;
    #[ORM\Column(type: 'simple_array', nullable: true)] public ?array $roles = null;
    #[ORM\Column(type: 'guid', nullable: true)] public ?string $ref = null;
    #[ORM\Column(length: 1, nullable: true)] public ?Suit $suit = null;
    #[ORM\Version, ORM\Column(type: 'integer')] public int $version = 1;
    #[ORM\Embedded] public Address $address;
    #[ORM\OneToMany(mappedBy: 'buyer', targetEntity: Purchase::class, cascade: ['persist', 'remove'], orphanRemoval: true), ORM\OrderBy(['id' => 'ASC'])] public $purchases;
    #[ORM\ManyToOne(targetEntity: Person::class), ORM\JoinColumn(onDelete: 'SET NULL')] public ?Person $boss = null;
    public function __construct(string $name, string $email) {
        [$this->name, $this->email, $this->address, $this->purchases] = [$name, $email, new Address(), new ArrayCollection()];
    }
}
#[ORM\Entity]
class Clerk extends Person {
    #[ORM\Column(nullable: true)] public ?int $desk = null;
}
#[ORM\Entity, ORM\Table(name: 'purchases'), ORM\ChangeTrackingPolicy('DEFERRED_EXPLICIT'), ORM\HasLifecycleCallbacks]
class Purchase {
    #[ORM\Id, ORM\GeneratedValue, ORM\Column(type: 'bigint')] public $id = null;
    #[ORM\ManyToOne(targetEntity: Person::class, inversedBy: 'purchases'), ORM\JoinColumn(nullable: false)] public Person $buyer;
    #[ORM\Column(type: 'decimal', precision: 12, scale: 3)] public string $total = '0';
    #[ORM\Column(type: 'smallint', options: ['unsigned' => true, 'default' => 1])] public int $pieces = 1;
    #[ORM\Column] public bool $paid = false;
    #[ORM\Column] public float $weight = 0.0;
    #[ORM\Column(type: 'text', nullable: true)] public ?string $note = null;
    #[ORM\Column(type: 'blob', nullable: true)] public $receipt = null;
    #[ORM\Column(type: 'binary', length: 16, nullable: true)] public $digest = null;
    #[ORM\Column(type: 'time', nullable: true)] public ?DateTime $at = null;
    #[ORM\Column] public DateTime $made;
    #[ORM\Column(type: 'datetimetz_immutable', nullable: true)] public ?DateTimeImmutable $sent = null;
    #[ORM\Column(type: 'dateinterval', nullable: true)] public ?DateInterval $took = null;
    #[ORM\ManyToMany(targetEntity: Label::class, indexBy: 'code'), ORM\JoinTable(name: 'purchase_labels'), ORM\InverseJoinColumn(name: 'label_code', referencedColumnName: 'code')] public $labels;
    public function __construct(Person $buyer, string $total) {
        [$this->buyer, $this->total, $this->made, $this->labels] = [$buyer, $total, new DateTime('2024-05-06 07:08:09'), new ArrayCollection()];
        $buyer->purchases->add($this);
    }
    #[ORM\PrePersist] public function weigh(): void { $this->weight = $this->weight ?: 0.25; }
}
#[ORM\Entity, ORM\Table(name: 'labels')]
class Label {
    public function __construct(#[ORM\Id, ORM\Column(length: 20)] public string $code, #[ORM\Column(type: 'string', length: 10, options: ['fixed' => true])] public string $short = 'x') {}
}

$params = ['driver' => $place->mysql ? 'pdo_mysql' : 'pdo_pgsql', 'host' => $place->host, 'port' => $place->port, 'user' => $place->user, 'password' => $place->password, 'dbname' => $place->database, 'charset' => $place->mysql ? 'utf8mb4' : 'utf8'];
$native = ['driver' => $place->mysql ? 'mysqli' : 'pgsql'] + $params;
function manager(array $params): EntityManager {
    $config = new Configuration();
    $config->setMetadataDriverImpl(new class([]) extends AttributeDriver {
        public function getAllClassNames() { return [Person::class, Clerk::class, Purchase::class, Label::class]; }
    });
    $config->setProxyDir(sys_get_temp_dir());
    $config->setProxyNamespace('Proxies');
    $config->setAutoGenerateProxyClasses(Doctrine\Common\Proxy\AbstractProxyFactory::AUTOGENERATE_EVAL);
    return new EntityManager(DriverManager::getConnection($params, $config), $config);
}
// By PDO; `TOUR_VARIANT=native` is mysqli and pg_*.
$is_native = getenv('TOUR_VARIANT') === 'native';
$em = manager($is_native ? $native : $params);
$db = $em->getConnection();
$classes = array_map(fn ($name) => $em->getClassMetadata($name), [Person::class, Clerk::class, Purchase::class, Label::class]);
$tool = new SchemaTool($em);

step('the platform', fn () => [get_class($db->getDatabasePlatform()), $db->getDatabase()]);
step('a schema is made', fn () => [$tool->getCreateSchemaSql($classes), $tool->createSchema($classes)]);
step('and nothing is left to do', fn () => [$tool->getUpdateSchemaSql($classes), (new SchemaValidator($em))->schemaInSyncWithMetadata(), (new SchemaValidator($em))->validateMapping()]);
step('what the manager of schemas reads', function () use ($db) {
    $found = [];
    $manager = $db->createSchemaManager();
    foreach (collectSorted($manager->listTables()) as $table) {
        $found[] = $table->getName() . ' ' . $table->getComment();
        foreach ($table->getColumns() as $column) {
            $found[] = array_filter(['type' => get_class($column->getType())] + $column->toArray(), fn ($value) => $value !== null && $value !== false && $value !== []) ;
            $found[count($found) - 1]['type'] = get_class($column->getType());
        }
        foreach (collectSorted($table->getIndexes()) as $index) {
            $found[] = [$index->getName(), $index->getColumns(), $index->isUnique(), $index->isPrimary(), $index->getFlags()];
        }
        foreach (collectSorted($table->getForeignKeys()) as $key) {
            $found[] = [$key->getName(), $key->getLocalColumns(), $key->getForeignTableName(), $key->getForeignColumns(), $key->onDelete(), $key->onUpdate()];
        }
    }
    return [...$found, $manager->listTableNames() !== [], $manager->tablesExist(['people', 'labels']), $manager->listDatabases() !== [], array_map(fn ($s) => $s->getName(), $GLOBALS['place']->mysql ? [] : $manager->listSequences())];
});
function collectSorted(array $things): array {
    usort($things, fn ($a, $b) => $a->getName() <=> $b->getName());
    return $things;
}
step('entities that are made', function () use ($em) {
    $ada = new Person('Žluťoučký 🐎', 'a@x.cz');
    $ada->born = new DateTimeImmutable('1990-02-28');
    $ada->settings = ['n' => [1, 2.5, null], 'theme' => 'dark'];
    $ada->roles = ['admin', 'user'];
    $ada->ref = '6fa459ea-ee8a-3ca4-894e-db77e160355e';
    $ada->suit = Suit::Spades;
    $em->persist($ada);
    $em->flush();
    $bob = new Clerk("O'Hara \\ \"x\"", 'b@x.cz');
    $bob->desk = -7;
    $bob->boss = $ada;
    $bob->address->street = 'Dlouhá 1';
    foreach ([$bob, new Label('new', 'n'), new Label('ž')] as $one) {
        $em->persist($one);
    }
    $sale = new Purchase($ada, '123456789.125');
    $sale->pieces = 65535 >> ($GLOBALS['place']->mysql ? 0 : 1);
    $sale->note = str_repeat('ř', 2000);
    $sale->receipt = "\x00\xff'\\\x80";
    $sale->digest = "\x01\x00\xfe";
    $sale->at = new DateTime('08:30:15');
    $sale->sent = new DateTimeImmutable('2024-02-29 23:59:59+00:00');
    $sale->took = new DateInterval('P1DT2H');
    $sale->labels['new'] = $em->find(Label::class, 'new');
    $em->persist($sale);
    foreach (range(1, 20) as $n) {
        $more = new Purchase($n % 3 ? $bob : $ada, sprintf('%d.5', $n));
        $more->paid = $n % 2 === 0;
        $em->persist($more);
    }
    $em->flush();
    return [$ada->id, $bob->id, $sale->id, $ada->version];
});
step('and read', function () use ($em) {
    $em->clear();
    $sale = $em->find(Purchase::class, 1);
    $ada = $sale->buyer;
    return [$ada->name, $ada->born, $ada->settings, $ada->roles, $ada->ref, $ada->suit, $ada->address, $ada->purchases->count(), $sale->total, $sale->pieces, $sale->paid, $sale->weight, strlen($sale->note), $sale->receipt, is_resource($sale->digest) ? stream_get_contents($sale->digest) : $sale->digest,
        $sale->at->format('H:i:s'), $sale->made, $sale->sent, $sale->took->format('%R %a %h'), $sale->labels->getKeys(), get_class($em->find(Person::class, 2)), $em->find(Person::class, 2)->desk, gettype($sale->id)];
});
step('DQL', fn () => array_map(fn ($dql) => $em->createQuery($dql)->getScalarResult(), [
    'SELECT p.name, COUNT(s.id) AS n, SUM(s.total) AS total, AVG(s.pieces) AS pieces FROM Person p LEFT JOIN p.purchases s WHERE s.id > 1 GROUP BY p.id, p.name ORDER BY p.id',
    'SELECT s.id FROM Purchase s WHERE s.total BETWEEN 3 AND 6 ORDER BY s.id DESC', "SELECT CONCAT(UPPER(p.email), '!') AS e, LENGTH(p.name) AS l, SUBSTRING(p.email, 2, 2) AS s, LOCATE('@', p.email) AS a, TRIM(p.name) AS t FROM Person p ORDER BY p.id",
    'SELECT p.id FROM Person p WHERE p INSTANCE OF Clerk', 'SELECT l.code FROM Label l WHERE NOT EXISTS (SELECT 1 FROM Purchase s WHERE l MEMBER OF s.labels) ORDER BY l.code', 'SELECT p.id FROM Person p WHERE p.boss IS NOT NULL AND p.address.city = \'Praha\'',
    "SELECT CASE WHEN s.paid = true THEN 'yes' ELSE 'no' END AS paid, COUNT(DISTINCT s.buyer) AS b, COUNT(s) AS c FROM Purchase s GROUP BY s.paid ORDER BY paid", 'SELECT COALESCE(p.address.street, p.email) AS r, NULLIF(p.version, 1) AS v, MOD(p.id, 2) AS m, ABS(-p.id) AS a, SQRT(p.id) AS q FROM Person p ORDER BY p.id',
    "SELECT DATE_ADD(s.made, 3, 'day') AS a, DATE_SUB(s.made, 2, 'month') AS b, DATE_DIFF(s.made, s.sent) AS d FROM Purchase s WHERE s.id = 1", 'SELECT IDENTITY(s.buyer) AS b, s.id FROM Purchase s WHERE s.id IN (SELECT MAX(t.id) FROM Purchase t GROUP BY t.buyer) ORDER BY s.id', 'SELECT BIT_AND(s.pieces, 6) AS a, BIT_OR(s.pieces, 6) AS o FROM Purchase s WHERE s.id = 2',
]));
step('parameters and builders', function () use ($em) {
    $query = $em->createQueryBuilder()->select('s', 'b')->from(Purchase::class, 's')->join('s.buyer', 'b')->where('s.made >= :from')->andWhere('b.id IN (:ids)')->andWhere('s.paid = :paid')->orderBy('s.id')->setParameters(['from' => new DateTime('2024-01-01'), 'ids' => [1, 2], 'paid' => true])->setMaxResults(4)->setFirstResult(1);
    $page = new Paginator($em->createQuery('SELECT p, s FROM Person p JOIN p.purchases s ORDER BY p.id')->setMaxResults(1));
    return [array_map(fn ($s) => [$s->id, $s->buyer->email], $query->getQuery()->getResult()), count($page), count(iterator_to_array($page)[0]->purchases), $em->getRepository(Person::class)->count(['boss' => null]),
        array_map(fn ($p) => $p->id, $em->getRepository(Person::class)->findBy(['email' => ['a@x.cz', 'b@x.cz']], ['email' => 'DESC'])), $em->getRepository(Person::class)->findOneBy(['suit' => Suit::Spades])?->id,
        $em->getRepository(Purchase::class)->matching(Criteria::create()->where(Criteria::expr()->gt('total', '15'))->orderBy(['id' => 'ASC'])->setMaxResults(3))->map(fn ($s) => $s->total)->toArray(), iterator_count($em->createQuery('SELECT s FROM Purchase s')->toIterable())];
});
step('changes', function () use ($em) {
    $ada = $em->find(Person::class, 1);
    $ada->name = 'Ada';
    $ada->settings = null;
    $em->flush();
    $found = [$ada->version, $em->createQuery('UPDATE Purchase s SET s.pieces = s.pieces - 1, s.note = :note WHERE s.id > 18')->execute(['note' => "'"]), $em->createQuery('UPDATE Purchase s SET s.note = :note WHERE s.id > 18')->execute(['note' => "'"]), $em->createQuery('DELETE Purchase s WHERE s.id = 21')->execute()];
    $em->clear();
    $ada = $em->find(Person::class, 1);
    $ada->purchases->remove(0);
    $em->flush();
    return [...$found, $em->getRepository(Purchase::class)->count([]), $em->createQuery('UPDATE Person p SET p.name = UPPER(p.name) WHERE p.id = 1')->execute(), $em->createQuery('DELETE Clerk c WHERE c.desk > 0')->execute()];
});
step('locks', function () use ($em, $params) {
    $other = manager($params);
    $found = [];
    $mine = $em->find(Person::class, 1);
    $theirs = $other->find(Person::class, 1);
    $theirs->name = 'Theirs';
    $other->flush();
    $mine->name = 'Mine';
    $found[] = refused(fn () => $em->flush());
    $em->clear();
    $em = manager($params);
    $em->wrapInTransaction(function ($em) use (&$found) {
        $found[] = $em->find(Person::class, 1, LockMode::PESSIMISTIC_WRITE)->name;
        $found[] = $em->find(Person::class, 2, LockMode::PESSIMISTIC_READ)->id;
        $found[] = refused(fn () => $em->lock($em->find(Person::class, 1), LockMode::OPTIMISTIC, 1));
    });
    $other->getConnection()->executeStatement($GLOBALS['place']->mysql ? 'set innodb_lock_wait_timeout = 1' : "set lock_timeout = '300ms'");
    $em->getConnection()->beginTransaction();
    $em->find(Person::class, 1, LockMode::PESSIMISTIC_WRITE);
    $found[] = refused(fn () => $other->getConnection()->update('people', ['name' => 'waits'], ['id' => 1]));
    $em->getConnection()->rollBack();
    return $found;
});
step('transactions', function () use ($db) {
    $db->setNestTransactionsWithSavepoints(true);
    $db->beginTransaction();
    $found = [$db->insert('labels', ['code' => 'one', 'short' => 'o'])];
    $db->beginTransaction();
    $found[] = $db->update('labels', ['short' => 'zzz'], ['code' => 'one']);
    $db->rollBack();
    $found[] = [$db->getTransactionNestingLevel(), $db->fetchOne('SELECT short FROM labels WHERE code = ?', ['one'])];
    $found[] = refused(fn () => $db->transactional(fn () => $db->insert('labels', ['code' => 'one', 'short' => 'x'])));
    $db->commit();
    $found[] = refused(fn () => $db->transactional(function () use ($db) { $db->delete('labels', ['code' => 'one']); throw new RuntimeException('back'); }));
    return [...$found, $db->fetchOne('SELECT COUNT(*) FROM labels'), $db->getTransactionIsolation(), $db->setTransactionIsolation(4), $db->transactional(fn () => $db->fetchOne('SELECT COUNT(*) FROM labels'))];
});
step('DBAL', function () use ($db, $is_native) {
    $query = $db->createQueryBuilder()->select('p.id', 'COUNT(s.id) AS n')->from('people', 'p')->leftJoin('p', 'purchases', 's', 's.buyer_id = p.id AND s.total > :least')->groupBy('p.id')->orderBy('p.id')->setParameter('least', 5);
    return [$query->executeQuery()->fetchAllAssociative(), $db->fetchAllKeyValue('SELECT code, short FROM labels ORDER BY code'), $db->fetchFirstColumn('SELECT id FROM purchases WHERE id IN (?) ORDER BY id', [[2, 3, 99]], [Connection::PARAM_INT_ARRAY]), $db->fetchAllAssociativeIndexed('SELECT id, email, born FROM people ORDER BY id'), $db->fetchNumeric('SELECT ?, ?, ?', ['x', 1, null], [ParameterType::STRING, ParameterType::INTEGER, ParameterType::NULL]),
        $db->executeStatement('UPDATE purchases SET paid = ? WHERE id < ?', [true, 6], [ParameterType::BOOLEAN, ParameterType::INTEGER]), $db->insert('purchases', ($GLOBALS['place']->mysql ? [] : ['id' => $db->fetchOne("SELECT nextval('purchases_id_seq')")]) + ['buyer_id' => 1, 'total' => '1.5', 'paid' => false, 'weight' => 1.5, 'made' => new DateTime('2024-01-02 03:04:05'), 'receipt' => "\x00\xff"], ['paid' => Types::BOOLEAN, 'made' => Types::DATETIME_MUTABLE, 'receipt' => ParameterType::LARGE_OBJECT]),
        (int) $db->lastInsertId() > 20, $db->convertToPHPValue($db->fetchOne('SELECT made FROM purchases ORDER BY id DESC LIMIT 1'), 'datetime'), $db->fetchOne('SELECT receipt FROM purchases WHERE receipt IS NOT NULL ORDER BY id DESC LIMIT 1'), $db->quote("it's \\"), $db->quoteIdentifier('a.b'), $db->executeQuery('SELECT id, name FROM people WHERE 1 = 0')->columnCount(),
        $db->executeQuery('SELECT 1 AS a UNION ALL SELECT 2')->rowCount(), $is_native ? preg_replace('/near .*|"dbal.*/', '', refused(fn () => $db->prepare('SELECT :a AS a')->executeQuery())) : $db->prepare('SELECT :a AS a')->executeQuery(['a' => 'named'])->fetchAllAssociative()];
});
step('the other driver', function () use ($native) {
    $db = DriverManager::getConnection($native);
    $statement = $db->prepare('SELECT id, email, settings, born, version FROM people WHERE id >= ? ORDER BY id');
    $statement->bindValue(1, 1, ParameterType::INTEGER);
    $found = [$statement->executeQuery()->fetchAllAssociative(), $db->executeStatement('UPDATE people SET version = version + 1 WHERE id = ?', [1]), $db->fetchAllNumeric('SELECT total, pieces, paid, weight, made, sent, receipt FROM purchases ORDER BY id LIMIT 3')];
    $found[] = refused(fn () => $db->executeStatement('INSERT INTO labels (code, short) VALUES (?, ?)', ['ž', 'x']));
    $found[] = refused(fn () => $db->fetchOne('SELECT nothing FROM people'));
    return [...$found, $db->insert('labels', ['code' => 'native', 'short' => 'n']), $db->delete('labels', ['code' => 'native'])];
});
step('errors', fn () => array_map(fn ($act) => preg_replace('/^(\S+) \S+/', '$1', refused($act)), [
    fn () => $db->insert('labels', ['code' => 'ž', 'short' => 'x']), fn () => $db->insert('labels', ['code' => null, 'short' => 'x']), fn () => $db->insert('purchases', ['id' => 1000, 'buyer_id' => 99, 'total' => 1, 'paid' => 0, 'weight' => 1, 'made' => '2024-01-01']), fn () => $db->delete('people', ['id' => 1]),
    fn () => $db->executeQuery('SELECT * FROM nothing'), fn () => $db->executeQuery('SELECT nothing FROM people'), fn () => $db->executeQuery('SELEC'), fn () => $db->executeQuery('SELECT id FROM people, purchases'), fn () => $db->insert('labels', ['code' => str_repeat('x', 21), 'short' => 'x']),
    fn () => $db->executeStatement('CREATE TABLE labels (id INT)'), fn () => $db->executeStatement('DROP TABLE nothing'), fn () => $db->insert('purchases', ['id' => 1000, 'buyer_id' => 1, 'total' => '1e10', 'paid' => 0, 'weight' => 1, 'made' => '2024-01-01']), fn () => $db->insert('purchases', ['id' => 1000, 'buyer_id' => 1, 'total' => 1, 'paid' => 0, 'weight' => 1, 'made' => 'never']),
    fn () => $db->insert('purchases', ['id' => 1000, 'buyer_id' => 1, 'total' => 1, 'paid' => 0, 'weight' => 1]), fn () => DriverManager::getConnection(['dbname' => 'nowhere'] + $params)->executeQuery('SELECT 1'),
]));
step('a schema that changes', function () use ($db) {
    $manager = $db->createSchemaManager();
    $schema = $manager->introspectSchema();
    $wanted = clone $schema;
    $labels = $wanted->getTable('labels');
    $labels->addColumn('stars', 'integer', ['notnull' => false, 'default' => 3, 'comment' => 'how good']);
    $labels->addColumn('at', 'datetime', ['default' => 'CURRENT_TIMESTAMP']);
    $labels->addColumn('price', 'decimal', ['precision' => 9, 'scale' => 2, 'default' => '1.50']);
    $labels->addColumn('doc', 'json', ['notnull' => false]);
    $labels->addIndex(['stars', 'at'], 'by_stars');
    $labels->getColumn('short')->setLength(40)->setFixed(false)->setDefault("it's")->setNotnull(false);
    $people = $wanted->getTable('people');
    $people->dropColumn('ref');
    $people->dropIndex('by_name');
    $people->addUniqueIndex(['name', 'email'], 'both');
    $made = $wanted->createTable('extras');
    $made->addColumn('id', 'integer', ['autoincrement' => true, 'unsigned' => true]);
    $made->addColumn('code', 'string', ['length' => 20]);
    $made->setPrimaryKey(['id']);
    $made->addForeignKeyConstraint('labels', ['code'], ['code'], ['onDelete' => 'CASCADE'], 'to_label');
    $diff = $manager->createComparator()->compareSchemas($schema, $wanted);
    $manager->alterSchema($diff);
    $again = $manager->createComparator()->compareSchemas($manager->introspectSchema(), $wanted);
    $sorted = function (array $sql) { sort($sql); return $sql; };
    return [$sorted($db->getDatabasePlatform()->getAlterSchemaSQL($diff)), 'again', $db->getDatabasePlatform()->getAlterSchemaSQL($again), $db->insert('extras', ['code' => 'ž']), $db->fetchAllAssociative("SELECT code, short, stars, price, doc FROM labels WHERE code = 'ž'")];
});
step('views and names', function () use ($db) {
    $manager = $db->createSchemaManager();
    $views = fn () => array_values(array_filter(array_map(fn ($view) => $view->getName(), $manager->listViews()), fn ($name) => !str_starts_with($name, 'pg_catalog') && !str_starts_with($name, 'information_schema')));
    $manager->createView(new Doctrine\DBAL\Schema\View('totals', 'SELECT buyer_id, SUM(total) AS total FROM purchases GROUP BY buyer_id'));
    $found = [$views(), $db->fetchAllAssociative('SELECT * FROM totals ORDER BY buyer_id')];
    $manager->renameTable('extras', 'others');
    $found[] = $manager->tablesExist(['others']);
    $manager->dropView('totals');
    $manager->dropForeignKey('to_label', 'others');
    $manager->dropTable('others');
    return [...$found, $views()];
});
step('all away', fn () => [count($tool->getDropSchemaSQL($classes)) > 0, $tool->dropSchema($classes), $db->createSchemaManager()->listTableNames()]);
