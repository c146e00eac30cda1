-- The fees of a day are found by their time: an index cannot be searched by `clock_timestamp()`, which may differ from row to row.
CREATE OR REPLACE FUNCTION "service"."reserve_verified"(p_asked json, OUT accepted boolean, OUT reserved boolean, OUT now_ms bigint) LANGUAGE plpgsql AS $$
DECLARE
  asked record;
  latest bigint;
  own boolean;
  others numeric;
BEGIN
  -- A reservation waits for no disk. A crash of the server may forget those of its last moments.
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO asked FROM json_to_record(p_asked) AS listed(
    network text, family text, payee text, account_id text, scope text, keyless boolean,
    key text, payer text, asset text, amount numeric, available numeric, height bigint,
    head_s bigint, valid_after numeric, valid_before numeric, least_left_s integer,
    wallet text, fee_scope text, fee numeric, wallet_limit numeric, scope_limit numeric, life_s integer
  );
  accepted := false;
  reserved := false;
  -- The same lock as in src/service/db/reservations.ts. What follows reads what was committed before it was taken.
  PERFORM pg_advisory_xact_lock(hashtextextended('reservation ' || asked.network || ' ' || asked.payer || ' ' || asked.asset, 0));
  now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  latest := greatest(asked.head_s, now_ms / 1000);
  IF asked.valid_after > latest OR asked.valid_before < latest + asked.least_left_s THEN
    RETURN;
  END IF;
  IF EXISTS (
    SELECT FROM "service"."wallet_owner" AS owner
    WHERE owner."address" = asked.payee AND owner."scope" IN (asked.network, asked.family) AND owner."released_at" IS NULL
      AND (asked.keyless OR owner."account_id" <> asked.account_id)
  ) OR EXISTS (
    SELECT FROM "service"."claim" AS taken
    WHERE taken."network" = asked.network AND taken."key" = asked.key AND (taken."scope" = asked.scope OR taken."exclusive")
      AND taken."consumed_at" IS NOT NULL
  ) OR EXISTS (
    SELECT FROM "service"."refused_payer" AS refused
    WHERE refused."network" = asked.network AND refused."payer" = asked.payer AND refused."refused_until" > clock_timestamp()
  ) OR (
    SELECT coalesce(sum(coalesce(spent."paid", spent."reserved")), 0) FROM "service"."settlement_fee" AS spent
    WHERE spent."network" = asked.network AND spent."wallet" = asked.wallet AND spent."created_at" > now() - interval '24 hours'
  ) + asked.fee > asked.wallet_limit OR (
    SELECT coalesce(sum(coalesce(spent."paid", spent."reserved")), 0) FROM "service"."settlement_fee" AS spent
    WHERE spent."network" = asked.network AND spent."scope" = asked.fee_scope AND spent."created_at" > now() - interval '24 hours'
  ) + asked.fee > asked.scope_limit THEN
    RETURN;
  END IF;
  accepted := true;
  SELECT coalesce(bool_or(held."key" = asked.key), false), coalesce(sum(held."amount") FILTER (WHERE held."key" <> asked.key), 0)
    INTO own, others
    FROM "service"."reservation" AS held
    LEFT JOIN LATERAL (
      SELECT bool_or(paid."status" = 'pending' OR paid."status" = 'rolled_back') AS open,
        bool_or(paid."status" IN ('failed', 'expired') OR paid."block_height" <= asked.height) AS over
      FROM "service"."claim" AS taken JOIN "service"."payment" AS paid ON paid."id" = taken."payment_id"
      WHERE taken."network" = held."network" AND taken."key" = held."key"
    ) AS settlement ON true
    WHERE held."network" = asked.network AND held."payer" = asked.payer AND held."asset" = asked.asset
      AND (held."expires_at" > clock_timestamp() OR coalesce(settlement.open, false)) AND NOT coalesce(settlement.over, false);
  IF others + asked.amount > asked.available THEN
    RETURN;
  END IF;
  IF NOT own THEN
    INSERT INTO "service"."reservation" ("network", "payer", "asset", "key", "amount", "expires_at")
      VALUES (asked.network, asked.payer, asked.asset, asked.key, asked.amount,
        least(to_timestamp(asked.valid_before::double precision), clock_timestamp() + make_interval(secs => asked.life_s)))
      ON CONFLICT ("network", "payer", "asset", "key") DO UPDATE SET "amount" = excluded."amount", "expires_at" = excluded."expires_at";
  END IF;
  reserved := true;
END $$;
