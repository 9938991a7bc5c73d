<?php
/*
 * What a blog does, by WordPress itself: php tour.php DIRECTORY HOST:PORT USER PASSWORD DATABASE
 *
 * DIRECTORY is where WordPress lies. Each step prints a line `== STEP` and what it found out.
 */
[, $directory, $host, $user, $password, $database] = $argv;
define('DB_NAME', $database);
define('DB_USER', $user);
define('DB_PASSWORD', $password);
define('DB_HOST', $host);
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('ABSPATH', "$directory/");
define('WP_INSTALLING', true);
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $key) {
    define($key, 'one key for all of them');
}
$_SERVER += ['HTTP_HOST' => 'blog.example', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/'];
$table_prefix = 'wp_';
ini_set('error_log', '/dev/stderr');
require "$directory/wp-settings.php";
require_once "$directory/wp-admin/includes/upgrade.php";
require_once "$directory/wp-admin/includes/taxonomy.php";

// No mail is sent.
add_filter('pre_wp_mail', '__return_true');
$wpdb->hide_errors();

/** Runs a step, and prints what it returns and what the database refused. */
function step(string $name, callable $act): void {
    global $wpdb;
    echo "== $name\n";
    $before = count($GLOBALS['EZSQL_ERROR'] ?? []);
    $found = $act();
    foreach (is_array($found) ? $found : [$found] as $line) {
        echo is_scalar($line) ? var_export($line, true) : json_encode($line, JSON_UNESCAPED_UNICODE), "\n";
    }
    foreach (array_slice($GLOBALS['EZSQL_ERROR'] ?? [], $before) as $error) {
        echo 'FAILED ', $error['error_str'], ' :: ', preg_replace('/\s+/', ' ', $error['query']), "\n";
    }
}

/** The titles of a query's posts. */
function titles(array $query): array {
    $found = new WP_Query($query + ['no_found_rows' => false, 'suppress_filters' => true]);
    return [implode(', ', array_map(fn ($post) => $post->post_title, $found->posts)), "of $found->found_posts"];
}

step('install', function () {
    $made = wp_install('A blog', 'ada', 'ada@blog.example', true, '', 'secret');
    return [$made['user_id'], get_option('blogname'), count(wp_load_alloptions()) > 80];
});
step('tables', fn () => $GLOBALS['wpdb']->get_col('SHOW TABLES'));
step('the schema again', fn () => array_values(dbDelta('all')));
step('a table that grows', function () {
    global $wpdb;
    $charset = $wpdb->get_charset_collate();
    dbDelta("CREATE TABLE {$wpdb->prefix}visits (\n  id bigint(20) unsigned NOT NULL auto_increment,\n  page varchar(191) NOT NULL default '',\n  PRIMARY KEY  (id)\n) $charset;");
    $said = dbDelta("CREATE TABLE {$wpdb->prefix}visits (\n  id bigint(20) unsigned NOT NULL auto_increment,\n  page varchar(191) NOT NULL default '',\n  seen datetime NOT NULL default '2024-01-01 00:00:00',\n  PRIMARY KEY  (id),\n  KEY page (page)\n) $charset;");
    return array_values($said);
});
step('posts', function () {
    $made = [];
    $blue = wp_create_category('Blue');
    foreach (range(1, 25) as $number) {
        $made[] = wp_insert_post([
            'post_title' => "Post $number", 'post_content' => "It's the \"text\" of $number \\ ünïcödé 😀", 'post_status' => 'publish',
            'post_author' => 1, 'post_category' => $number % 2 ? [$blue] : [], 'tags_input' => $number % 5 ? ['odd', "n$number"] : ['five'],
            'post_date' => sprintf('2024-01-%02d 10:00:00', $number), 'meta_input' => ['rating' => $number % 7, 'colour' => "c$number"],
        ], true);
    }
    return [count(array_filter($made, 'is_int')), get_post($made[2])->post_content, get_post_meta($made[2], 'rating', true)];
});
step('newest', fn () => titles(['posts_per_page' => 5]));
step('a page of a category', fn () => titles(['category_name' => 'blue', 'posts_per_page' => 3, 'paged' => 2]));
step('tags', fn () => titles(['tag' => 'five', 'order' => 'ASC']));
step('search', fn () => titles(['s' => 'ünïcödé', 'posts_per_page' => 2]));
step('search for words', fn () => titles(['s' => 'text 12', 'posts_per_page' => 2]));
step('dates', fn () => titles(['date_query' => [['after' => '2024-01-20', 'inclusive' => true]], 'order' => 'ASC']));
step('a month', fn () => titles(['year' => 2024, 'monthnum' => 1, 'day' => 7]));
step('by a number of meta', fn () => titles(['meta_key' => 'rating', 'orderby' => ['meta_value_num' => 'DESC', 'ID' => 'ASC'], 'posts_per_page' => 4]));
step('a meta query', fn () => titles(['meta_query' => ['relation' => 'OR', ['key' => 'rating', 'value' => [3, 4], 'compare' => 'BETWEEN', 'type' => 'NUMERIC'], ['key' => 'colour', 'value' => 'c1', 'compare' => 'LIKE']], 'orderby' => 'ID', 'order' => 'ASC', 'posts_per_page' => 6]));
step('a tax query', fn () => titles(['tax_query' => [['taxonomy' => 'post_tag', 'field' => 'slug', 'terms' => ['odd'], 'operator' => 'NOT IN']], 'orderby' => 'ID', 'order' => 'ASC']));
step('terms', fn () => array_map(fn ($term) => "$term->name $term->count", get_terms(['taxonomy' => 'category', 'orderby' => 'count', 'order' => 'DESC'])));
step('archives', fn () => trim(strip_tags(wp_get_archives(['type' => 'monthly', 'echo' => false, 'show_post_count' => true]))) !== '');
step('comments', function () {
    $post = get_page_by_title('Post 3', OBJECT, 'post')->ID;
    $ids = array_map(fn ($n) => wp_insert_comment(['comment_post_ID' => $post, 'comment_content' => "Comment $n", 'comment_author' => 'Bob', 'comment_approved' => $n % 3 ? 1 : 0, 'comment_date' => "2024-02-0$n 00:00:00"]), range(1, 6));
    wp_set_comment_status($ids[0], 'spam');
    return [count($ids), (array) get_comment_count($post), get_post($post)->comment_count];
});
step('users', function () {
    $id = wp_insert_user(['user_login' => 'bob', 'user_pass' => 'b', 'user_email' => 'bob@blog.example', 'role' => 'author']);
    $found = new WP_User_Query(['role' => 'author', 'search' => '*ob*', 'count_total' => true]);
    return [is_int($id), $found->get_total(), count_users()['total_users'], wp_check_password('b', get_userdata($id)->user_pass)];
});
step('options', function () {
    add_option('mine', ['a' => 1]);
    update_option('mine', ['a' => 2, 'b' => "it's"]);
    wp_cache_flush();
    $read = get_option('mine');
    delete_option('mine');
    set_transient('soon', 'gone', 60);
    wp_cache_flush();
    return [$read, get_option('mine', 'none'), get_transient('soon'), delete_expired_transients(true) === null];
});
step('an edit and its revision', function () {
    $post = get_page_by_title('Post 4', OBJECT, 'post')->ID;
    wp_update_post(['ID' => $post, 'post_content' => 'changed']);
    return [get_post($post)->post_content, count(wp_get_post_revisions($post))];
});
step('trash and delete', function () {
    $post = get_page_by_title('Post 5', OBJECT, 'post')->ID;
    wp_trash_post($post);
    $trashed = get_post_status($post);
    wp_delete_post($post, true);
    return [$trashed, get_post($post) === null, wp_count_posts()->publish];
});
step('health', function () {
    global $wpdb;
    return [$wpdb->has_cap('utf8mb4'), $wpdb->has_cap('utf8mb4_520'), $wpdb->get_col_charset('wp_posts', 'post_title'), $wpdb->check_connection(false)];
});
