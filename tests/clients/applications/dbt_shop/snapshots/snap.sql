{% snapshot snap_customers %}
{{ config(target_schema=target.schema, unique_key='id', strategy='timestamp', updated_at='updated_at', invalidate_hard_deletes=true) }}
select * from {{ ref('raw_customers') }}
{% endsnapshot %}
{% snapshot snap_orders %}
{{ config(target_schema=target.schema, unique_key='id', strategy='check', check_cols=['status','amount'], hard_deletes='new_record') }}
select * from {{ ref('raw_orders') }}
{% endsnapshot %}
