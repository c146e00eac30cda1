ALTER TABLE "service"."chain_cursor" ADD COLUMN "holder" text;--> statement-breakpoint
ALTER TABLE "service"."chain_cursor" ADD COLUMN "lease_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "reported_signature" text;--> statement-breakpoint
CREATE INDEX "payment_expired" ON "service"."payment" USING btree ("network","expires_at") WHERE status = 'expired';