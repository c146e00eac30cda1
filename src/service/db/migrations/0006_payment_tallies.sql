CREATE TABLE "service"."payment_change" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"sender" text NOT NULL,
	"recipient" text NOT NULL,
	"mode" text NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"day" integer NOT NULL,
	"status" text NOT NULL,
	"delta" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."payment_tally" (
	"account_id" text NOT NULL,
	"party" text NOT NULL,
	"direction" text NOT NULL,
	"day" integer NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"status" text NOT NULL,
	"payments" bigint NOT NULL,
	CONSTRAINT "payment_tally_account_id_party_direction_day_network_asset_status_pk" PRIMARY KEY("account_id","party","direction","day","network","asset","status")
);
--> statement-breakpoint
CREATE INDEX "payment_tally_empty" ON "service"."payment_tally" USING btree ("account_id") WHERE payments = 0;--> statement-breakpoint
CREATE INDEX "payment_status" ON "service"."payment" USING btree ("account_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_pair" ON "service"."payment" USING btree ("account_id","sender","recipient");--> statement-breakpoint
CREATE INDEX "payment_any_signature" ON "service"."payment" USING btree ("account_id","signature") WHERE signature is not null;--> statement-breakpoint
CREATE INDEX "payment_resource" ON "service"."payment" USING btree ("account_id",left(lower(regexp_replace(resource, '^https?://', '')), 200) text_pattern_ops) WHERE resource is not null;--> statement-breakpoint
CREATE INDEX "payment_reference" ON "service"."payment" USING btree ("account_id",left(substring(metadata from '"referenceId":("(?:[^"\\]|\\.)*")'), 200)) WHERE metadata is not null;--> statement-breakpoint
CREATE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*)
  FROM "after" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", -count(*)
  FROM "before" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", sum("change")
  FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 HAVING sum("change") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "payment_added" AFTER INSERT ON "service"."payment" REFERENCING NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_added"();
--> statement-breakpoint
CREATE TRIGGER "payment_removed" AFTER DELETE ON "service"."payment" REFERENCING OLD TABLE AS "before" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_removed"();
--> statement-breakpoint
CREATE TRIGGER "payment_changed" AFTER UPDATE ON "service"."payment" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_changed"();
--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*)
FROM "service"."payment" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
