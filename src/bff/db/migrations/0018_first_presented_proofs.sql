-- By hand: who presented an undelivered payment first is not known by its proof. Its payer gets the file after sign-in, and no proof of it does; nor of one that is being sent now.
UPDATE "bff"."file_purchase" SET "sending_until" = '9999-12-31' WHERE "delivered_at" IS NULL AND EXISTS (SELECT FROM "bff"."file_presenter" WHERE "file_presenter"."payment_id" = "file_purchase"."payment_id");--> statement-breakpoint
DELETE FROM "bff"."file_presenter";--> statement-breakpoint
-- By hand: before the new primary key.
ALTER TABLE "bff"."file_presenter" DROP COLUMN "payment_id";--> statement-breakpoint
ALTER TABLE "bff"."file_presenter" ADD COLUMN "proof" text PRIMARY KEY NOT NULL;--> statement-breakpoint
DROP INDEX "bff"."file_purchase_open";--> statement-breakpoint
ALTER TABLE "bff"."mail_message" ADD COLUMN "earlier" jsonb;--> statement-breakpoint
CREATE INDEX "file_presenter_presented" ON "bff"."file_presenter" USING btree ("presented_at");--> statement-breakpoint
CREATE INDEX "file_purchase_open" ON "bff"."file_purchase" USING btree ("sending_until") WHERE delivered_at is null;
