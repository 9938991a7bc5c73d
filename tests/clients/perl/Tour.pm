package Tour;

# What every tour uses: steps whose findings are printed, and values in one spelling.
use strict;
use warnings;
use utf8;
use Exporter 'import';
use JSON::PP ();
use Encode ();
use Scalar::Util qw(blessed looks_like_number);

our @EXPORT = qw(step spell refused told %place);
binmode STDOUT, ':encoding(UTF-8)';
$| = 1;
$ENV{TZ} = 'UTC';

my $json = JSON::PP->new->canonical->allow_nonref;

# The URL in parts.
our %place;
@place{qw(scheme user password host port database)} = $ARGV[0] =~ m{^(\w+)://([^:@]*)(?::([^@]*))?@([^:/]+):(\d+)/(\w+)$} or die 'the URL of an empty database is wanted';
$place{password} //= '';
$place{mysql} = $place{scheme} eq 'mysql';

# Run a step and print what it says; a failure is what the step found out, and the next one goes on.
sub step {
    my ($name, $act) = @_;
    print "== $name\n";
    my @found = eval { $act->() };
    if (my $error = $@) {
        print 'FAILED ', told($error), "\n";
        return;
    }
    print spell($_), "\n" for @found;
}

# A value as JSON: numbers and texts alike, since Perl tells them apart by their use.
sub spell { $json->encode(plain($_[0])) }

sub plain {
    my ($value) = @_;
    return undef unless defined $value;
    return blessed($value) ? ($value->can('get_columns') ? plain({$value->get_columns}) : "$value") : ref $value eq 'ARRAY' ? [map { plain($_) } @$value] : ref $value eq 'HASH' ? {map { $_ => plain($value->{$_}) } keys %$value} : ref $value eq 'SCALAR' ? plain($$value) : "$value" if ref $value;
    if (!utf8::is_utf8($value) && $value =~ /[^\x09\x0a\x0d\x20-\x7e]/) {
        return '\x' . unpack('H*', $value);
    }
    return length $value > 3000 ? length($value) . ' letters' : "$value";
}

# What an error says, without where.
sub told {
    my $said = "@_";
    $said = eval { Encode::decode('UTF-8', $said, Encode::FB_CROAK) } // $said unless utf8::is_utf8($said);
    $said =~ s/ at \S+ line \d+\.?.*//s;
    $said =~ s/\bDBD::\w+::\w+ \w+ failed: //;
    $said =~ s/CONTEXT: +while (?:updating|locking|deleting) tuple \S+ in relation "\w+"//;
    $said =~ s/HINT: +The database served here is .*//;
    $said =~ s/port \d+/port N/g;
    $said =~ s/'[^']*'\@'[^']*'/WHO/;
    return join ' ', split ' ', $said;
}

# Act, and say how it was refused; what is not refused is a failure.
sub refused {
    my ($act) = @_;
    eval { $act->(); 1 } and die "was not refused\n";
    my $error = $@;
    return join ' ', grep { defined && length } (defined $DBI::err ? ($DBI::err, $DBI::state) : ()), told($error);
}

1;
