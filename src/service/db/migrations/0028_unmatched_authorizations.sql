DROP INDEX "service"."unmatched_transfer_signature";--> statement-breakpoint
ALTER TABLE "service"."unmatched_transfer" ADD COLUMN "authorization_key" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "unmatched_transfer_signature" ON "service"."unmatched_transfer" USING btree ("account_id","network","signature","authorization_key");