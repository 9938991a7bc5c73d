{{ config(materialized='view') }}
select {{ dbt.date_trunc('month', 'placed_at') }} as month, status, count(*) n, sum(amount) total,
  {{ dbt.dateadd('day', 1, dbt.date_trunc('month', 'placed_at')) }} as next_day,
  {{ dbt.datediff("'2024-01-01'::timestamp", dbt.date_trunc('month', 'placed_at'), 'day') }} as days,
  {{ dbt.listagg('id::text', "','", 'order by id') }} as ids
from {{ ref('raw_orders') }} group by 1, 2
