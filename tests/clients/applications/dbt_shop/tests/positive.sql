{{ config(store_failures=true) }}
select * from {{ ref('customers') }} where total < 0
