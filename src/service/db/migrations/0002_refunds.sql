DROP INDEX "service"."event_account";--> statement-breakpoint
ALTER TABLE "service"."event" ADD COLUMN "draft" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "refund_reason" text;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "refund_note" text;--> statement-breakpoint
CREATE INDEX "payment_draft_text" ON "service"."payment" USING btree ("created_at") WHERE draft and unsigned_transaction is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "unmatched_transfer_assigned" ON "service"."unmatched_transfer" USING btree ("assigned_payment_id") WHERE assigned_payment_id is not null;--> statement-breakpoint
CREATE INDEX "event_account" ON "service"."event" USING btree ("account_id","id") WHERE not draft;--> statement-breakpoint
-- From here on by hand.
-- A refund was a payment whose metadata named another one. It counts where it goes back the same way.
UPDATE "service"."payment" AS "back" SET "refund_of" = "parent"."id"
FROM "service"."payment" AS "parent"
WHERE "back"."metadata" LIKE '%"refundOf":"pay_%'
  AND "parent"."id" = substring("back"."metadata" from '"refundOf":"(pay_[1-9A-HJ-NP-Za-km-z]{22})"')
  AND "parent"."account_id" = "back"."account_id" AND "parent"."network" = "back"."network" AND "parent"."asset" = "back"."asset"
  AND "parent"."sender" = "back"."recipient" AND "parent"."recipient" = "back"."sender";
--> statement-breakpoint
UPDATE "service"."event" SET "draft" = true FROM "service"."payment" WHERE "payment"."id" = "event"."payment_id" AND "payment"."draft";
--> statement-breakpoint
CREATE FUNCTION "service"."set_event_draft"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT "draft" INTO NEW."draft" FROM "service"."payment" WHERE "id" = NEW."payment_id";
  NEW."draft" := coalesce(NEW."draft", false);
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER "event_draft" BEFORE INSERT ON "service"."event" FOR EACH ROW EXECUTE FUNCTION "service"."set_event_draft"();
--> statement-breakpoint
CREATE FUNCTION "service"."clear_event_drafts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "service"."event" SET "draft" = false WHERE "payment_id" = NEW."id" AND "draft";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "payment_draft_cleared" AFTER UPDATE OF "draft" ON "service"."payment" FOR EACH ROW WHEN (OLD."draft" AND NOT NEW."draft") EXECUTE FUNCTION "service"."clear_event_drafts"();
--> statement-breakpoint
CREATE INDEX "claim_ungranted" ON "service"."claim" USING btree ("payment_id") WHERE attempt not in ('order', 'assigned', 'granted', 'delivered') and consumed_at is not null;--> statement-breakpoint
-- Written by hand. What was settled before grants were recorded was told as success then, or is known from the chain since: it is never granted again.
UPDATE "service"."claim" SET "attempt" = 'granted'
FROM "service"."payment"
WHERE "payment"."id" = "claim"."payment_id" AND "payment"."status" <> 'pending' AND "claim"."consumed_at" IS NOT NULL
  AND "claim"."attempt" NOT IN ('order', 'assigned', 'granted');
