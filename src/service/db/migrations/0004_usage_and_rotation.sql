CREATE TABLE "service"."usage" (
	"key_id" text NOT NULL,
	"period" text NOT NULL,
	"starts_at" timestamp (3) with time zone NOT NULL,
	"endpoint" text NOT NULL,
	"status_class" text NOT NULL,
	"requests" bigint NOT NULL,
	CONSTRAINT "usage_key_id_period_starts_at_endpoint_status_class_pk" PRIMARY KEY("key_id","period","starts_at","endpoint","status_class")
);
--> statement-breakpoint
ALTER TABLE "service"."account" ADD COLUMN "scopes" text[];--> statement-breakpoint
ALTER TABLE "service"."api_key" ADD COLUMN "replaced_by" text;--> statement-breakpoint
CREATE INDEX "usage_age" ON "service"."usage" USING btree ("period","starts_at");