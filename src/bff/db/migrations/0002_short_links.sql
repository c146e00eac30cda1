ALTER TABLE "bff"."link_payment" ADD COLUMN "arrival" integer;--> statement-breakpoint
ALTER TABLE "bff"."payment_link" ADD COLUMN "code" text;--> statement-breakpoint
ALTER TABLE "bff"."payment_link" ADD COLUMN "short" jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "payment_link_code" ON "bff"."payment_link" USING btree ("code");