CREATE TABLE "service"."token_pool" (
	"name" text PRIMARY KEY NOT NULL,
	"slots" bigint[] NOT NULL,
	"tokens" integer[] NOT NULL,
	"empty_at" timestamp (3) with time zone NOT NULL
);--> statement-breakpoint
DROP TABLE "service"."rate_limit" CASCADE;--> statement-breakpoint
-- Written by hand from here on.
-- Leases tokens of one limit, and takes back those that a process did not spend. The arguments and the invariant: src/service/limits/lease-tokens.ts.
CREATE FUNCTION "service"."lease_tokens"(
  p_name text, p_capacity integer, p_needed integer, p_extra integer, p_back_slots bigint[], p_back_tokens integer[],
  p_slot_ms integer, p_kept_slots integer, p_at_ms bigint,
  OUT granted integer, OUT slot bigint, OUT available integer, OUT now_ms bigint, OUT free_at_ms bigint, OUT empty_at_ms bigint
) LANGUAGE plpgsql AS $$
DECLARE
  own_slots bigint[];
  own_tokens integer[];
  used bigint;
  free bigint;
BEGIN
  -- A limit waits for no disk. A crash of the server may forget the leases of its last moments.
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Locks the row until this statement ends.
  INSERT INTO "service"."token_pool" AS pool ("name", "slots", "tokens", "empty_at") VALUES (p_name, '{}', '{}', now())
    ON CONFLICT ("name") DO UPDATE SET "name" = excluded."name" RETURNING pool."slots", pool."tokens" INTO own_slots, own_tokens;
  -- The time under the lock, so that the leases of one limit are in order.
  now_ms := coalesce(p_at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  slot := now_ms / p_slot_ms;
  -- A charge from the future was made before the clock was set back: it counts from now. Tokens that come back into no charge are none.
  SELECT coalesce(array_agg(live.at_slot ORDER BY live.at_slot), '{}'), coalesce(array_agg(live.charged ORDER BY live.at_slot), '{}'), coalesce(sum(live.charged), 0)
    INTO own_slots, own_tokens, used
    FROM (
      SELECT least(change.at_slot, lease_tokens.slot) AS at_slot, sum(change.charged)::integer AS charged
      FROM (
        SELECT a.at_slot, a.charged FROM unnest(own_slots, own_tokens) AS a(at_slot, charged)
        UNION ALL SELECT b.at_slot, -b.charged FROM unnest(p_back_slots, p_back_tokens) AS b(at_slot, charged)
      ) AS change
      GROUP BY 1 HAVING sum(change.charged) > 0
    ) AS live
    WHERE live.at_slot >= lease_tokens.slot - p_kept_slots;

  free := greatest(0, p_capacity - used);
  granted := least(p_needed, free);
  -- What is leased ahead stays small where little is left, so that another process finds some.
  granted := granted + least(p_extra, (free - granted) / 4);
  IF granted > 0 AND own_slots[cardinality(own_slots)] = slot THEN
    own_tokens[cardinality(own_slots)] := own_tokens[cardinality(own_slots)] + granted;
  ELSIF granted > 0 THEN
    own_slots := own_slots || slot;
    own_tokens := own_tokens || granted;
  END IF;
  used := used + granted;
  available := greatest(0, p_capacity - used);
  SELECT coalesce((min(freed.at_slot) + p_kept_slots + 1) * p_slot_ms, now_ms), coalesce((max(freed.at_slot) + p_kept_slots + 1) * p_slot_ms, now_ms)
    INTO free_at_ms, empty_at_ms
    FROM (
      SELECT a.at_slot, sum(a.charged) OVER (ORDER BY a.at_slot) AS returned FROM unnest(own_slots, own_tokens) AS a(at_slot, charged)
    ) AS freed
    WHERE used - freed.returned < p_capacity;
  IF available > 0 THEN
    free_at_ms := now_ms;
  END IF;
  UPDATE "service"."token_pool" SET "slots" = own_slots, "tokens" = own_tokens, "empty_at" = to_timestamp(empty_at_ms / 1000.0) WHERE "name" = p_name;
END $$;
