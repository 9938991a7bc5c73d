{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge', on_schema_change='sync_all_columns') }}
select id, customer_id, amount, status, placed_at {% if var('wide', false) %}, upper(status) as shout{% endif %} from {{ ref('eph') }}
{% if is_incremental() %} where placed_at >= (select max(placed_at) from {{ this }}) {% endif %}
