# What every tour uses: steps whose findings are printed, and values in one spelling.
require "bigdecimal"
require "set"
require "date"
require "json"
require "uri"
ENV["TZ"] = "UTC"
$stdout.sync = true

# Run a step and print what it says; a failure is what the step found out, and the next one goes on.
def step(name)
  puts "== #{name}"
  found = yield
  (found.is_a?(Array) ? found : found.nil? ? [] : [found]).each { |line| puts line.is_a?(String) ? plain(line) : plain(line).to_json }
rescue StandardError, NotImplementedError => error
  puts "FAILED #{told(error)}"
  puts error.backtrace.first(12) if ENV["TOUR_STACKS"]
end

# A value that JSON can spell.
def plain(value)
  case value
  when String
    if value.encoding == Encoding::BINARY || !value.dup.force_encoding("UTF-8").valid_encoding?
      value.ascii_only? ? value.dup.force_encoding("UTF-8") : "\\x#{value.unpack1("H*")}"
    else
      value.bytesize > 3000 ? "#{value.bytesize} bytes" : value
    end
  when Symbol then ":#{value}"
  when BigDecimal then "Decimal #{value.to_s("F")}"
  when Float then value.finite? ? value : value.to_s
  when Integer, true, false, nil then value
  when Date, Time then "#{value.class.name.split("::").last} #{value.is_a?(DateTime) || value.is_a?(Time) ? value.strftime("%F %T.%6N %z") : value.iso8601}"
  when Hash then value.to_h { |key, one| [key.is_a?(Symbol) ? key.to_s : plain(key), plain(one)] }
  when Array, Set then value.map { |one| plain(one) }
  when Range then value.to_s
  else
    if value.respond_to?(:attributes) then plain(value.attributes)
    elsif value.respond_to?(:to_a) then plain(value.to_a)
    elsif value.respond_to?(:values) then plain(value.values)
    else value.to_s.gsub(/0x\h+/, "0x")
    end
  end
end

# An error's class, and what it says.
def told(error)
  cause = error.cause || (error.respond_to?(:wrapped_exception) ? error.wrapped_exception : nil)
  fields = [error, cause].compact.flat_map do |one|
    if one.respond_to?(:error_number) then [one.class.name, one.error_number, one.sql_state]
    elsif one.respond_to?(:result) && one.result.respond_to?(:error_field) then [one.class.name, one.result.error_field(PG::PG_DIAG_SQLSTATE)]
    else [one.class.name]
    end
  end
  # Where a row lies is nothing that two servers share.
  "#{fields.to_json} #{error.message.gsub(/CONTEXT: +while (updating|locking|deleting) tuple \S+ in relation "\w+"/, "").gsub(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+/, "A MOMENT").split.join(" ")[0, 600]}"
end

# Act, and say how it was refused; what is not refused is a failure.
def refused
  yield
rescue StandardError => error
  told(error)
else
  raise "was not refused"
end

PLACE = URI.parse(ARGV.fetch(0))
MYSQL = PLACE.scheme == "mysql"
DATABASE = PLACE.path.delete_prefix("/")
