CREATE TABLE "bff"."product" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"price" jsonb NOT NULL,
	"image_id" text,
	"archived_at" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."product_image" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"data" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "bff"."product" ADD CONSTRAINT "product_image_id_product_image_id_fk" FOREIGN KEY ("image_id") REFERENCES "bff"."product_image"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "product_created" ON "bff"."product" USING btree ("created_at");