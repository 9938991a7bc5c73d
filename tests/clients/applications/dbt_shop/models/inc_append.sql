{{ config(materialized='incremental', incremental_strategy='append') }}
select {{ dbt.hash('id::text') }} as h, {{ dbt.safe_cast("status", api.Column.translate_type("string")) }} as s from {{ ref('raw_orders') }}
