ALTER TABLE "bff"."invoice" ADD COLUMN "customer_removed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD COLUMN "sender" text;--> statement-breakpoint
CREATE INDEX "link_payment_sender" ON "bff"."link_payment" USING btree ("sender");--> statement-breakpoint
-- By hand: the wallet that a payer named is known where the e-mail address or the session of the payment is.
UPDATE "bff"."link_payment" SET "sender" = "made"."sender" FROM "bff"."session_payment" AS "made" WHERE "made"."payment_id" = "link_payment"."payment_id" AND "made"."sender" IS NOT NULL;--> statement-breakpoint
UPDATE "bff"."link_payment" SET "sender" = "typed"."sender" FROM "bff"."payment_contact" AS "typed" WHERE "typed"."payment_id" = "link_payment"."payment_id" AND "typed"."sender" IS NOT NULL AND "link_payment"."sender" IS NULL;--> statement-breakpoint
-- By hand: from an invoice with a number the customer can only go. That they went stays.
DROP TRIGGER "invoice_kept" ON "bff"."invoice";--> statement-breakpoint
CREATE TRIGGER "invoice_kept" BEFORE UPDATE ON "bff"."invoice" FOR EACH ROW
  WHEN (OLD."state" <> 'draft' AND (
    NEW."state" = 'draft'
    OR (NEW."customer_id" IS NOT NULL AND NEW."customer_id" IS DISTINCT FROM OLD."customer_id")
    OR (OLD."customer_removed_at" IS NOT NULL AND NEW."customer_removed_at" IS DISTINCT FROM OLD."customer_removed_at")
    OR (NEW."id", NEW."sequence", NEW."number", NEW."issued_on", NEW."due_on", NEW."currency", NEW."lines", NEW."total", NEW."note", NEW."link_id")
      IS DISTINCT FROM
      (OLD."id", OLD."sequence", OLD."number", OLD."issued_on", OLD."due_on", OLD."currency", OLD."lines", OLD."total", OLD."note", OLD."link_id")
  )) EXECUTE FUNCTION "bff"."keep_row"();
