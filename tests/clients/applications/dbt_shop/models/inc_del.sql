{{ config(materialized='incremental', unique_key=['customer_id','status'], incremental_strategy='delete+insert') }}
select customer_id, status, sum(amount) as total, {{ dbt.current_timestamp() }} > '2020-01-01'::timestamptz as recent from {{ ref('raw_orders') }} group by 1,2
