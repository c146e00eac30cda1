ALTER TABLE "bff"."file_purchase" ADD COLUMN "failed_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "file_sale_prices" ON "bff"."file_sale" USING gin ("prices" jsonb_path_ops);