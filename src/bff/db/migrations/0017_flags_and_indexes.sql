DROP INDEX "bff"."payment_contact_created";--> statement-breakpoint
DROP INDEX "bff"."payment_link_created";--> statement-breakpoint
DROP INDEX "bff"."link_payment_link";--> statement-breakpoint
ALTER TABLE "bff"."invoice" ADD COLUMN "paid" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD COLUMN "recorded" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "bff"."payment_contact" ADD COLUMN "kept" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "invoice_state" ON "bff"."invoice" USING btree ("state","position");--> statement-breakpoint
CREATE INDEX "invoice_paid" ON "bff"."invoice" USING btree ("state","paid","position");--> statement-breakpoint
CREATE INDEX "link_payment_key" ON "bff"."link_payment" USING btree ("link_id","request_key") WHERE request_key is not null;--> statement-breakpoint
CREATE INDEX "link_payment_arrival" ON "bff"."link_payment" USING btree ("link_id","arrival") WHERE arrival is not null;--> statement-breakpoint
CREATE INDEX "link_payment_moving" ON "bff"."link_payment" USING btree ("link_id","checked_at" NULLS FIRST,"created_at") WHERE status in ('created', 'pending', 'confirmed', 'rolled_back');--> statement-breakpoint
CREATE INDEX "link_payment_unrecorded" ON "bff"."link_payment" USING btree ("link_id","created_at") WHERE not recorded and status in ('confirmed', 'finalized');--> statement-breakpoint
CREATE INDEX "payment_contact_open" ON "bff"."payment_contact" USING btree ("created_at") WHERE not kept;--> statement-breakpoint
CREATE INDEX "payment_link_listed" ON "bff"."payment_link" USING btree ("created_at","id") WHERE short ->> 'invoice' is null;--> statement-breakpoint
CREATE INDEX "mail_item_created" ON "bff"."mail_item" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "link_payment_link" ON "bff"."link_payment" USING btree ("link_id","status","created_at");--> statement-breakpoint
-- By hand: a payment of an invoice that is final stays final, whichever program writes its status.
CREATE FUNCTION "bff"."note_paid_invoice"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "bff"."invoice" SET "paid" = true WHERE "link_id" = NEW."link_id" AND NOT "paid";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "link_payment_final" AFTER INSERT OR UPDATE OF "status" ON "bff"."link_payment" FOR EACH ROW
  WHEN (NEW."status" = 'finalized') EXECUTE FUNCTION "bff"."note_paid_invoice"();
--> statement-breakpoint
-- By hand: what is known of the rows from before.
UPDATE "bff"."invoice" SET "paid" = true WHERE "link_id" IN (SELECT "link_id" FROM "bff"."link_payment" WHERE "status" = 'finalized');--> statement-breakpoint
UPDATE "bff"."link_payment" SET "recorded" = true FROM "bff"."file_purchase" AS "bought" WHERE "bought"."payment_id" = "link_payment"."payment_id";--> statement-breakpoint
UPDATE "bff"."payment_contact" SET "kept" = true FROM "bff"."link_payment" AS "made" WHERE "made"."payment_id" = "payment_contact"."payment_id" AND "made"."status" = 'finalized';