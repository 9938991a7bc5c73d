<?php
// What every tour uses: steps whose findings are printed, and values in one spelling.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stdout');
ini_set('html_errors', '0');
date_default_timezone_set('UTC');

/** Run a step and print what it says; a failure is what the step found out, and the next one goes on. */
function step(string $name, callable $act): void {
    echo "== $name\n";
    try {
        $found = $act();
        foreach (is_array($found) && array_is_list($found) ? $found : ($found === null ? [] : [$found]) as $line) {
            echo is_string($line) && preg_match('//u', $line) ? $line : spell($line), "\n";
        }
    } catch (Throwable $error) {
        echo 'FAILED ', told($error), "\n";
    }
}

/** A value as JSON, with what JSON has no spelling for. */
function spell(mixed $value): string {
    return json_encode(plain($value), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_PARTIAL_OUTPUT_ON_ERROR);
}

function plain(mixed $value): mixed {
    return match (true) {
        is_string($value) && !preg_match('//u', $value) => '\x' . bin2hex($value),
        is_string($value) && strlen($value) > 3000 => strlen($value) . ' bytes, ' . md5($value),
        is_resource($value) => is_string($read = stream_get_contents($value)) ? ['stream' => plain($read)] : 'resource',
        $value instanceof DateTimeInterface => $value->format('Y-m-d\TH:i:s.uP'),
        $value instanceof UnitEnum => $value->name,
        is_object($value) && method_exists($value, 'toArray') => plain($value->toArray()),
        is_object($value) => plain(get_object_vars($value)),
        is_array($value) => array_map('plain', $value),
        default => $value,
    };
}

/** An error's class, and what it says; numbers of sessions are left out. */
function told(Throwable $error): string {
    $said = $error->getMessage();
    $more = $error instanceof PDOException && isset($error->errorInfo) ? array_slice($error->errorInfo, 0, 2) : [$error->getCode()];
    // Where a row lies is nothing that two servers share.
    $said = preg_replace('/CONTEXT: +while (updating|locking|deleting) tuple \S+ in relation "\w+"/', '', $said);
    $said = preg_replace(['/port \d+/', '/HINT: +The database served here is .*/'], ['port N', ''], $said);
    return get_class($error) . ' ' . spell($more) . ' ' . trim(preg_replace('/\s+/', ' ', $said));
}

/** Act, and say how it was refused; what is not refused is a failure. */
function refused(callable $act): string {
    try {
        $act();
    } catch (Throwable $error) {
        return told($error);
    }
    throw new LogicException('was not refused');
}

/** The URL in parts. */
$parts = parse_url($argv[1]);
$place = (object) [
    'mysql' => $parts['scheme'] === 'mysql', 'host' => $parts['host'], 'port' => $parts['port'], 'user' => $parts['user'], 'password' => $parts['pass'] ?? '',
    'database' => substr($parts['path'], 1),
];
