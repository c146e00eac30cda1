CREATE TABLE "service"."socket" (
	"id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "service"."rate_limit" ADD COLUMN "allowed" boolean NOT NULL;--> statement-breakpoint
CREATE INDEX "socket_key" ON "service"."socket" USING btree ("key_id","lease_until");