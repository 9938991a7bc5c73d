<?php
// Laravel 8's database: migrations, the builders of schemas and queries, Eloquent's models.
require __DIR__ . '/tour.php';
require '/usr/share/php/Illuminate/Database/autoload.php';
require '/usr/share/php/Illuminate/Pagination/autoload.php';
require '/usr/share/php/Illuminate/Events/autoload.php';

use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Factories\HasFactory;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Eloquent\SoftDeletes;
use Illuminate\Database\Migrations\DatabaseMigrationRepository;
use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Events\Dispatcher;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\Facade;

$settings = [
    'driver' => $place->mysql ? 'mysql' : 'pgsql', 'host' => $place->host, 'port' => $place->port, 'database' => $place->database, 'username' => $place->user, 'password' => $place->password,
    'charset' => $place->mysql ? 'utf8mb4' : 'utf8', 'prefix' => '', 'strict' => true,
    // By statements of the server; `TOUR_VARIANT=emulated` has values in their texts.
    'options' => [PDO::ATTR_EMULATE_PREPARES => getenv('TOUR_VARIANT') === 'emulated'],
] + ($place->mysql ? ['collation' => 'utf8mb4_unicode_ci', 'engine' => 'InnoDB', 'timezone' => '+00:00'] : ['schema' => 'public', 'timezone' => 'UTC']);
$capsule = new DB();
$capsule->addConnection($settings);
$capsule->addConnection($settings, 'other');
$capsule->setEventDispatcher(new Dispatcher(new Container()));
$capsule->setAsGlobal();
$capsule->bootEloquent();
Carbon::setTestNow('2024-05-06 07:08:09');
$schema = DB::schema();

class Author extends Model {
    protected $guarded = [];
    protected $casts = ['settings' => 'array', 'born' => 'date', 'is_admin' => 'boolean', 'balance' => 'decimal:4'];
    public function books() { return $this->hasMany(Book::class); }
    public function latest() { return $this->hasOne(Book::class)->latestOfMany('id'); }
    public function tags() { return $this->morphToMany(Tag::class, 'taggable')->withPivot('rank')->withTimestamps(); }
    public function scopeAdmins($query) { return $query->where('is_admin', true); }
}
class Book extends Model {
    use SoftDeletes;
    protected $guarded = [];
    protected $casts = ['pages' => 'integer', 'price' => 'decimal:2', 'published_at' => 'datetime:Y-m-d H:i:s', 'rating' => 'float', 'meta' => 'object'];
    public function author() { return $this->belongsTo(Author::class); }
    public function tags() { return $this->morphToMany(Tag::class, 'taggable')->withPivot('rank'); }
    public function shops() { return $this->belongsToMany(Shop::class)->withPivot('stock')->withTimestamps(); }
}
class Shop extends Model {
    public $incrementing = false;
    protected $keyType = 'string';
    protected $guarded = [];
    public function books() { return $this->belongsToMany(Book::class)->withPivot('stock'); }
}
class Tag extends Model {
    public $timestamps = false;
    protected $guarded = [];
    public function books() { return $this->morphedByMany(Book::class, 'taggable'); }
}

class CreateAuthors extends Migration {
    public function up() {
        DB::schema()->create('authors', function (Blueprint $table) {
            $table->id();
            $table->string('name', 100)->index();
            $table->string('email')->unique();
            $table->char('country', 2)->default('CZ');
            $table->boolean('is_admin')->default(false);
            $table->decimal('balance', 12, 4)->default(0);
            $table->json('settings')->nullable();
            $table->date('born')->nullable();
            $table->enum('kind', ['human', 'robot'])->default('human');
            $table->rememberToken();
            $table->timestamps();
        });
    }
    public function down() { DB::schema()->dropIfExists('authors'); }
}
class CreateBooks extends Migration {
    public function up() {
        DB::schema()->create('books', function (Blueprint $table) {
            $table->bigIncrements('id');
            $table->foreignId('author_id')->constrained()->onDelete('cascade');
            $table->string('title')->comment('its "title"');
            $table->text('summary')->nullable();
            $table->unsignedInteger('pages')->default(0);
            $table->unsignedDecimal('price', 8, 2)->nullable();
            $table->double('rating', 8, 3)->nullable();
            $table->float('weight')->nullable();
            $table->binary('cover')->nullable();
            $table->jsonb('meta')->nullable();
            $table->uuid('ref')->nullable();
            $table->year('year')->nullable();
            $table->time('opens', 0)->nullable();
            $table->dateTime('published_at', 3)->nullable();
            $table->dateTimeTz('seen_at')->nullable();
            $table->timestamp('sold_at')->useCurrent();
            $table->ipAddress('ip')->nullable();
            if (DB::connection()->getDriverName() === 'mysql') {
                $table->macAddress('mac')->nullable();
            }
            $table->softDeletes();
            $table->timestamps();
            $table->unique(['author_id', 'title'], 'one_title');
            $table->index(['published_at', 'pages']);
        });
        DB::schema()->create('shops', function (Blueprint $table) {
            $table->string('id', 40)->primary();
            $table->string('city');
            $table->timestamps();
        });
        DB::schema()->create('book_shop', function (Blueprint $table) {
            $table->foreignId('book_id')->constrained()->cascadeOnUpdate()->cascadeOnDelete();
            $table->string('shop_id', 40);
            $table->foreign('shop_id')->references('id')->on('shops');
            $table->smallInteger('stock')->default(0);
            $table->timestamps();
            $table->primary(['book_id', 'shop_id']);
        });
        DB::schema()->create('tags', function (Blueprint $table) {
            $table->increments('id');
            $table->string('name')->unique();
        });
        DB::schema()->create('taggables', function (Blueprint $table) {
            $table->unsignedInteger('tag_id');
            $table->morphs('taggable');
            $table->tinyInteger('rank')->default(1);
            $table->nullableTimestamps();
            $table->foreign('tag_id')->references('id')->on('tags')->onDelete('cascade');
        });
    }
    public function down() {
        foreach (['taggables', 'tags', 'book_shop', 'shops', 'books'] as $name) {
            DB::schema()->drop($name);
        }
    }
}

/** What information_schema tells of a table, in words that both servers share. */
function shape(string $table): array {
    $columns = array_map(fn ($row) => array_change_key_case((array) $row), DB::select(
        'select column_name as n, data_type as t, is_nullable as o, column_default as d, character_maximum_length as l, numeric_precision as p, numeric_scale as s, datetime_precision as dp'
        . ' from information_schema.columns where table_name = ? and table_schema = ' . (DB::connection()->getDriverName() === 'mysql' ? 'database()' : 'current_schema()') . ' order by ordinal_position',
        [$table],
    ));
    return array_map(fn ($row) => implode(' | ', array_map(fn ($value) => $value ?? '-', $row)), $columns);
}

step('migrations', function () use ($capsule) {
    $manager = $capsule->getDatabaseManager();
    $repository = new DatabaseMigrationRepository($manager, 'migrations');
    $found = [$repository->repositoryExists()];
    $repository->createRepository();
    foreach ([CreateAuthors::class, CreateBooks::class] as $at => $class) {
        (new $class())->up();
        $repository->log($class, $at + 1);
    }
    return [...$found, $repository->repositoryExists(), $repository->getRan(), $repository->getLastBatchNumber(), $repository->getMigrationBatches(), spell(plain($repository->getLast()))];
});
step('columns', fn () => array_merge(...array_map(fn ($name) => [$name, ...shape($name)], ['authors', 'books', 'shops', 'book_shop', 'tags', 'taggables'])));
step('what the builder of schemas knows', fn () => [
    $schema->hasTable('books'), $schema->hasTable('nothing'), $schema->hasColumn('books', 'PAGES'), $schema->hasColumns('books', ['id', 'nope']), collect($schema->getColumnListing('authors'))->sort()->values(),
    collect($schema->getAllTables())->map(fn ($row) => array_values((array) $row)[0])->sort()->values(),
    array_map(fn ($name) => $schema->getColumnType('books', $name), ['id', 'title', 'summary', 'pages', 'price', 'rating', 'cover', 'meta', 'published_at', 'sold_at', 'deleted_at']),
]);
step('a model that is made', function () {
    $one = Author::create(['name' => 'Žluťoučký 🐎', 'email' => 'a@x.cz', 'settings' => ['n' => [1, 2.5, null], 'theme' => 'dark'], 'born' => '1990-02-28', 'balance' => '12345678.9012']);
    $found = [$one, $one->wasRecentlyCreated, Author::find($one->id), $one->fresh()->settings['n'], $one->fresh()->born, Author::first()->getRawOriginal('balance')];
    return [...$found, Author::create(['name' => "O'Hara \\ \"x\"", 'email' => 'b@x.cz', 'is_admin' => true, 'kind' => 'robot'])->fresh()];
});
step('a book of all types', function () {
    $book = Author::first()->books()->create([
        'title' => 'First', 'summary' => str_repeat('ř', 2000), 'pages' => 4294967, 'price' => '123456.78', 'rating' => 4.125, 'weight' => 0.5, 'meta' => (object) ['a' => ['b' => true], 'c' => 'ž'],
        'ref' => '6fa459ea-ee8a-3ca4-894e-db77e160355e', 'year' => 2024, 'opens' => '08:30:00', 'published_at' => '2024-02-29 23:59:59.123', 'seen_at' => '2024-01-01 00:00:00', 'ip' => '10.0.0.1',
        'sold_at' => '2024-03-03 03:03:03',
    ]);
    $read = $book->fresh();
    return [$read, collect($read->getAttributes())->except('meta')->all(), $read->meta->a->b, gettype($read->getRawOriginal('pages')), gettype($read->getRawOriginal('rating')), gettype(DB::table('authors')->value('is_admin'))];
});
step('bytes', function () {
    $bytes = "\x00\xff'\\\x80";
    if (DB::connection()->getDriverName() === 'mysql') {
        DB::update('update books set cover = ? where title = ?', [$bytes, 'First']);
    } else {
        DB::update("update books set cover = decode(?, 'hex') where title = ?", [bin2hex($bytes), 'First']);
    }
    return [Book::first()->cover, Book::whereNotNull('cover')->count()];
});
step('many rows', function () {
    $rows = [];
    foreach (range(1, 40) as $n) {
        $rows[] = ['author_id' => 1 + $n % 2, 'title' => "Book $n", 'pages' => $n * 10, 'price' => $n % 3 ? $n + 0.5 : null, 'rating' => $n / 8, 'meta' => json_encode(['n' => $n, 'odd' => (bool) ($n % 2)]),
            'published_at' => Carbon::parse('2024-01-01')->addDays($n), 'created_at' => Carbon::now(), 'updated_at' => Carbon::now()];
    }
    return [Book::insert($rows), DB::table('books')->insertGetId(['author_id' => 1, 'title' => 'By id']), DB::table('books')->insertOrIgnore([['author_id' => 1, 'title' => 'By id'], ['author_id' => 2, 'title' => 'By id']]),
        DB::table('books')->insertUsing(['author_id', 'title', 'pages'], DB::table('books')->selectRaw("author_id, concat(title, ' copy'), pages")->where('pages', '>', 390)->where('pages', '<', 1000))];
});
step('upserts', function () {
    $upsert = fn ($rows, $update = null) => Book::upsert($rows, ['author_id', 'title'], $update);
    return [
        $upsert([['author_id' => 1, 'title' => 'Book 2', 'pages' => 999], ['author_id' => 1, 'title' => 'New one', 'pages' => 1]], ['pages']), Book::whereIn('title', ['Book 2', 'New one'])->orderBy('title')->pluck('pages', 'title'),
        $upsert([['author_id' => 1, 'title' => 'Book 2', 'pages' => 998]]), Author::updateOrCreate(['email' => 'b@x.cz'], ['name' => 'B'])->wasRecentlyCreated, Author::firstOrCreate(['email' => 'c@x.cz'], ['name' => 'C'])->wasRecentlyCreated,
        Author::firstOrNew(['email' => 'nobody'])->exists, DB::table('authors')->updateOrInsert(['email' => 'c@x.cz'], ['name' => 'Cc']), Author::orderBy('id')->pluck('name'),
        $upsert([['author_id' => 1, 'title' => 'Book 2', 'pages' => 998]], ['pages' => DB::raw($GLOBALS['place']->mysql ? 'pages + values(pages)' : 'books.pages + excluded.pages')]), Book::where('title', 'Book 2')->value('pages'),
    ];
});
step('queries', fn () => [
    Book::where('pages', '>', 100)->orWhere(fn ($q) => $q->whereNull('price')->where('title', 'like', 'book%'))->count(),
    Book::whereBetween('published_at', ['2024-01-05', '2024-01-10'])->orderByDesc('published_at')->pluck('title'),
    Book::whereDate('published_at', '2024-01-05')->pluck('title'), Book::whereMonth('published_at', 2)->whereDay('published_at', '<', 5)->whereYear('published_at', 2024)->orderBy('id')->pluck('title'),
    Book::whereTime('published_at', '>', '12:00:00')->pluck('title'), Book::whereColumn('created_at', 'updated_at')->count(), Book::whereNotIn('author_id', [1])->max('pages'),
    Book::selectRaw('author_id, count(*) as n, sum(pages) as pages, avg(rating) as rating, min(price) as least')->groupBy('author_id')->having('n', '>', 1)->orderBy('author_id')->toBase()->toSql() !== '',
    DB::table('books')->selectRaw('author_id, count(*) as n, sum(pages) as pages, min(price) as least')->groupBy('author_id')->havingRaw('count(*) > ?', [1])->orderBy('author_id')->get(),
    Book::sum('pages'), Book::avg('pages'), Book::min('price'), Book::max('published_at'), DB::table('books')->exists(), Book::where('id', 0)->doesntExist(),
    DB::table('books')->whereRowValues(['author_id', 'title'], '=', [1, 'By id'])->value('title'), Book::orderBy('id')->skip(3)->take(2)->pluck('title'), Book::distinct()->orderBy('author_id')->pluck('author_id'),
]);
step('JSON', fn () => [
    Book::where('meta->n', 7)->pluck('title'), Book::where('meta->odd', true)->count(), Book::whereJsonContains('meta', ['n' => 8])->pluck('title'), Book::whereJsonLength('meta->list', '>', 0)->count(),
    Author::where('settings->theme', 'dark')->pluck('email'), Author::whereJsonContains('settings->n', 1)->count(), Author::whereJsonLength('settings->n', 3)->count(), DB::table('books')->where('title', 'Book 7')->value('meta->n'),
    DB::table('books')->where('title', 'Book 7')->update(['meta->n' => 70] + ($GLOBALS['place']->mysql ? ['meta->extra' => 'ř'] : [])), spell(json_decode(DB::table('books')->where('title', 'Book 7')->value('meta'))),
    Author::where('settings->none->deep', null)->orderBy('id')->pluck('id'), Book::orderBy('meta->n')->whereNotNull('meta->n')->limit(3)->pluck('title'),
]);
step('joins and subqueries', fn () => [
    DB::table('authors as a')->leftJoin('books as b', fn ($join) => $join->on('a.id', '=', 'b.author_id')->where('b.pages', '>', 390))->orderBy('a.id')->orderBy('b.id')->get(['a.email', 'b.title']),
    DB::table('authors')->joinSub(DB::table('books')->select('author_id')->selectRaw('max(pages) as most')->groupBy('author_id'), 'm', 'm.author_id', '=', 'authors.id')->orderBy('authors.id')->get(['email', 'most']),
    Author::addSelect(['last_title' => Book::select('title')->whereColumn('author_id', 'authors.id')->orderByDesc('id')->limit(1)])->orderBy('id')->get()->map(fn ($a) => [$a->email, $a->last_title]),
    DB::table('books')->select('title')->where('pages', 400)->union(DB::table('authors')->select('email')->where('id', 1))->orderBy('title')->get(),
    Author::whereHas('books', fn ($q) => $q->where('pages', '>=', 400))->orderBy('id')->pluck('id'), Author::doesntHave('books')->pluck('email'), Author::has('books', '>=', 5)->count(),
    Author::withCount(['books', 'books as long_count' => fn ($q) => $q->where('pages', '>', 300)])->withSum('books', 'pages')->withAvg('books', 'pages')->withMax('books', 'title')->withExists('books')->orderBy('id')->get()->map->only(['books_count', 'long_count', 'books_sum_pages', 'books_avg_pages', 'books_max_title', 'books_exists']),
    DB::table('authors')->crossJoin('tags')->count(), DB::table(DB::table('books')->where('pages', '<', 50), 'few')->count(),
]);
step('relations', function () {
    $tags = collect(['new', 'old', 'ž'])->map(fn ($name) => Tag::create(['name' => $name]));
    $shop = Shop::create(['id' => 'praha-1', 'city' => 'Praha']);
    $book = Book::first();
    $found = [$book->shops()->attach($shop, ['stock' => 5]), $book->tags()->sync([1 => ['rank' => 3], 2]), $book->tags()->syncWithoutDetaching([3]), $book->tags()->toggle([1, 3]), $book->tags()->detach(2)];
    $book->tags()->attach([1 => ['rank' => 9], 3 => ['rank' => 8]]);
    return [...$found, Book::with(['author:id,name', 'shops', 'tags' => fn ($q) => $q->orderBy('tags.id')])->find($book->id)->only(['author', 'shops', 'tags']), Author::with('latest')->first()->latest->title, $book->shops()->updateExistingPivot('praha-1', ['stock' => 6]),
        $book->shops()->wherePivot('stock', '>', 5)->first()->pivot->stock, Tag::find(1)->books->pluck('title'), Author::first()->tags()->save($tags[0], ['rank' => 2])->name, Shop::with('books')->get()->map(fn ($s) => $s->books->pluck('title'))];
});
step('updates and counts', fn () => [
    Book::where('pages', 10)->update(['pages' => 11]), Book::where('pages', 11)->update(['pages' => 11]), Book::where('id', 1)->increment('pages', 5, ['rating' => 5]), Book::where('id', 1)->decrement('pages'), Book::find(1)->pages,
    DB::table('books')->join('authors', 'authors.id', '=', 'books.author_id')->where('authors.email', 'a@x.cz')->where('books.pages', '>', 380)->update(['rating' => 1]), DB::table('books')->where('rating', 1)->count(),
    DB::table('books')->orderBy('id')->limit(2)->where('pages', '<', 400)->update(['weight' => 2.5]), DB::table('books')->where('weight', 2.5)->count(), tap(Book::find(2))->update(['title' => 'Renamed'])->wasChanged('title'), Book::find(2)->touch(), Book::find(3)->push(),
]);
step('soft deletes', function () {
    $book = Book::find(3);
    $found = [$book->delete(), $book->trashed(), Book::find(3), Book::withTrashed()->find(3)->title, Book::onlyTrashed()->count(), $book->restore(), Book::find(3)->title];
    return [...$found, Book::find(4)->forceDelete(), Book::withTrashed()->find(4), Book::destroy([5, 6]), Book::onlyTrashed()->orderBy('id')->pluck('id'), DB::table('books')->where('pages', 11)->orderBy('id')->limit(1)->delete()];
});
step('pages, chunks, cursors', function () {
    $page = Book::orderBy('id')->paginate(7, ['id', 'title'], 'page', 2);
    $chunks = [];
    Book::orderBy('id')->chunk(15, function ($books) use (&$chunks) { $chunks[] = $books->count(); });
    Book::chunkById(20, function ($books) use (&$chunks) { $chunks[] = [$books->first()->id, $books->count()]; });
    return [$page->total(), $page->lastPage(), $page->pluck('id'), $chunks, Book::orderBy('id')->cursor()->sum('pages'), Book::orderBy('id')->lazy(9)->take(3)->pluck('id')->all(), Book::orderBy('id')->cursorPaginate(3, ['id'])->items(), Book::simplePaginate(5)->hasMorePages()];
});
step('transactions', function () {
    DB::transaction(function () {
        Author::where('id', 1)->lockForUpdate()->first();
        Author::where('id', 2)->sharedLock()->first();
        Author::where('id', 1)->update(['country' => 'SK']);
    });
    $found = [Author::find(1)->country];
    $found[] = refused(fn () => DB::transaction(function () {
        Author::where('id', 1)->update(['country' => 'XX']);
        throw new RuntimeException('back');
    }));
    $found[] = Author::find(1)->country;
    DB::beginTransaction();
    Author::where('id', 1)->update(['country' => 'PL']);
    DB::beginTransaction();
    Author::where('id', 1)->update(['country' => 'DE']);
    $found[] = [DB::transactionLevel(), Author::find(1)->country, DB::connection('other')->table('authors')->where('id', 1)->value('country')];
    $found[] = refused(fn () => DB::transaction(fn () => Author::create(['name' => 'again', 'email' => 'a@x.cz'])));
    DB::rollBack();
    $found[] = Author::find(1)->country;
    DB::commit();
    return [...$found, Author::find(1)->country, DB::transactionLevel()];
});
step('a lock that is waited for', function () use ($place) {
    $other = DB::connection('other');
    $other->statement($place->mysql ? 'set innodb_lock_wait_timeout = 1' : "set lock_timeout = '300ms'");
    DB::beginTransaction();
    Author::where('id', 1)->lockForUpdate()->first();
    $found = [refused(fn () => $other->table('authors')->where('id', 1)->lock('for update nowait')->first()), refused(fn () => $other->table('authors')->where('id', 1)->update(['country' => 'YY'])),
        $other->table('authors')->orderBy('id')->lock('for update skip locked')->pluck('id')];
    DB::rollBack();
    return [...$found, $other->table('authors')->where('id', 1)->update(['country' => 'AT'])];
});
step('errors', fn () => array_map(fn ($act) => refused($act), [
    fn () => Author::create(['name' => 'x', 'email' => 'a@x.cz']), fn () => Author::create(['email' => 'no name']), fn () => Author::create(['name' => 'x', 'email' => 'y', 'country' => 'CZE']), fn () => Author::create(['name' => 'x', 'email' => 'y', 'kind' => 'alien']),
    fn () => Book::create(['author_id' => 999, 'title' => 'x']), fn () => DB::table('tags')->where('id', 1)->update(['id' => null]), fn () => Shop::find('praha-1')->forceDelete(), fn () => DB::table('nothing')->get(), fn () => Author::where('nope', 1)->get(), fn () => DB::select('selec 1'),
    fn () => Author::create(['name' => 'x', 'email' => 'y', 'balance' => '999999999999']), fn () => Book::create(['author_id' => 1, 'title' => 'x', 'opens' => 'noon']), fn () => Book::create(['author_id' => 1, 'title' => 'x', 'published_at' => '2024-02-30 00:00:00']), fn () => Author::findOrFail(77),
    fn () => DB::insert('insert into authors (name, email, born) values (?, ?, ?)', ['x', 'y', 'long ago']), fn () => DB::table('authors')->selectRaw('name, count(*)')->groupBy('country')->get(), fn () => DB::schema()->create('authors', fn ($table) => $table->id()), fn () => DB::schema()->drop('nothing'),
    fn () => DB::schema()->table('authors', fn ($table) => $table->integer('name')), fn () => DB::schema()->table('authors', fn ($table) => $table->unique('country')), fn () => DB::schema()->table('authors', fn ($table) => $table->dropColumn('nope')), fn () => Author::sole(),
]));
step('tables that change', function () use ($schema) {
    $schema->table('authors', function (Blueprint $table) {
        $table->string('nick', 30)->nullable()->after('name');
        $table->integer('age')->unsigned()->default(18)->index();
        $table->timestampTz('seen', 6)->nullable();
        $table->dropColumn('remember_token');
        $table->dropUnique(['email']);
        $table->unique('email', 'by_email');
    });
    $schema->table('authors', fn (Blueprint $table) => $table->renameIndex('by_email', 'mail_once'));
    $schema->table('tags', fn (Blueprint $table) => $GLOBALS['place']->mysql ? $table->string('slug')->virtualAs('lower(name)')->nullable() : $table->string('slug')->storedAs('lower(name)'));
    $found = shape('authors');
    $schema->table('taggables', function (Blueprint $table) {
        $table->dropForeign(['tag_id']);
        $table->dropMorphs('taggable');
    });
    $schema->rename('taggables', 'labels');
    return [...$found, ...shape('labels'), ...($GLOBALS['place']->mysql ? shape('tags') : []), $schema->hasTable('taggables')];
});
step('columns that change', function () use ($schema) {
    $schema->table('authors', function (Blueprint $table) {
        $table->string('name', 200)->nullable()->change();
        $table->text('nick')->nullable()->change();
        $table->decimal('balance', 14, 2)->default(1)->change();
        $table->bigInteger('age')->default(21)->change();
    });
    $schema->table('authors', fn (Blueprint $table) => $table->renameColumn('nick', 'nickname'));
    return [...shape('authors'), Author::orderBy('id')->first()];
});
step('types of many kinds', function () use ($schema, $place) {
    $schema->create('kinds', function (Blueprint $table) use ($place) {
        $table->mediumIncrements('id');
        $table->bigInteger('big')->nullable();
        $table->unsignedBigInteger('ubig')->nullable();
        $table->unsignedTinyInteger('tiny')->nullable();
        $table->unsignedSmallInteger('small')->nullable();
        $table->mediumInteger('medium')->nullable();
        $table->mediumText('mt')->nullable();
        $table->longText('lt')->nullable();
        $table->time('t', 3)->nullable();
        $table->timestamp('ts', 6)->nullable();
        $table->string('code', 5)->charset('utf8mb4')->collation($place->mysql ? 'utf8mb4_bin' : 'C')->nullable();
        $table->integer('twice')->storedAs('medium * 2')->nullable();
        $table->boolean('flag')->default(true);
        $table->timestamp('changed')->useCurrent()->useCurrentOnUpdate();
        if ($place->mysql) {
            $table->set('parts', ['a', 'b', 'c'])->nullable();
            $table->comment = 'all kinds';
        }
    });
    $id = DB::table('kinds')->insertGetId(['big' => PHP_INT_MIN, 'ubig' => $place->mysql ? '18446744073709551615' : PHP_INT_MAX, 'tiny' => 255, 'small' => $place->mysql ? 65535 : 32767, 'medium' => -8388608 / 2, 'mt' => str_repeat('m', 70000), 'lt' => 'l', 't' => '23:59:59.999', 'ts' => '2024-02-29 01:02:03.123456', 'code' => 'Ab', 'changed' => '2020-01-01 00:00:00']
        + ($place->mysql ? ['parts' => 'c,a'] : []));
    $row = DB::table('kinds')->find($id);
    DB::table('kinds')->where('id', $id)->update(['flag' => false]);
    return [$row, DB::table('kinds')->where('code', 'ab')->count(), DB::table('kinds')->where('twice', '<', 0)->count(), DB::table('kinds')->value('flag'), ($place->mysql ? DB::table('kinds')->value('changed') > '2024' : true), ...shape('kinds')];
});
step('statements and expressions', fn () => [
    DB::select('select ? as a, ? as b, ? as c', ['x', 1, null]), DB::selectOne('select :a as a, :b as b', ['a' => "q'", 'b' => 2.5]),
    DB::affectingStatement('update authors set country = ? where id in (?, ?)', ['CZ', 1, 2]), DB::unprepared('update authors set country = \'US\' where id = 1'), DB::statement('select 1'), DB::table('authors')->select(DB::raw('upper(email) as e'))->orderByRaw('length(email), id')->first(),
    DB::table('books')->inRandomOrder('7')->limit(1)->get()->count(), DB::table('authors')->where('id', 1)->lock(false)->value('email'), DB::table('authors')->whereExists(fn ($q) => $q->select(DB::raw(1))->from('books')->whereColumn('books.author_id', 'authors.id'))->count(),
    DB::table('books')->latest('id')->first(['id'])->id > 0, DB::table('books')->orderByDesc('id')->value('title'),
]);
step('views and truncation', function () use ($schema) {
    DB::statement('create view long_books as select id, title from books where pages > 300');
    $found = [DB::table('long_books')->count() > 0, $schema->hasTable('long_books')];
    DB::table('labels')->truncate();
    $schema->disableForeignKeyConstraints();
    if (DB::connection()->getDriverName() === 'mysql') {
        DB::table('books')->truncate();
    }
    $schema->enableForeignKeyConstraints();
    return [...$found, DB::table('labels')->count(), $schema->dropAllViews(), refused(fn () => DB::table('long_books')->count())];
});
step('migrations back, and all away', function () use ($schema, $capsule) {
    $repository = new DatabaseMigrationRepository($capsule->getDatabaseManager(), 'migrations');
    $last = $repository->getLast();
    $repository->delete($last[0]);
    $found = [$repository->getRan(), refused(fn () => (new CreateAuthors())->down())];
    $schema->dropAllTables();
    return [...$found, $schema->getAllTables(), $schema->hasTable('migrations')];
});
