{% macro say() %}{% set r = run_query("select count(*) from " ~ target.schema ~ ".customers") %}{{ log(r.columns[0].values()[0], info=True) }}{% endmacro %}
