{{ config(materialized='incremental', incremental_strategy='microbatch', unique_key='id', event_time='placed_at', begin='2024-01-01', batch_size='month') }}
select id, placed_at, amount from {{ ref('raw_orders') }}
