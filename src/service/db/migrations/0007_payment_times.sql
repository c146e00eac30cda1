ALTER TABLE "service"."payment" ADD COLUMN "block_time" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "broadcast_at" timestamp (3) with time zone;