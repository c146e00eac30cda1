CREATE TABLE "bff"."file_purchase" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"file_id" text NOT NULL,
	"wallet" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"sending_until" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone,
	"reported_at" timestamp (3) with time zone,
	"downloads" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."file_sale" (
	"id" text PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"file_name" text NOT NULL,
	"mime_type" text NOT NULL,
	"size" bigint,
	"ranges" boolean NOT NULL,
	"prices" jsonb NOT NULL,
	"source" jsonb NOT NULL,
	"credential" jsonb,
	"source_id" text NOT NULL,
	"content" text,
	"page" text NOT NULL,
	"memo_key" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"withdrawn_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "bff"."file_ticket" (
	"ticket_hash" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "bff"."file_purchase" ADD CONSTRAINT "file_purchase_file_id_file_sale_id_fk" FOREIGN KEY ("file_id") REFERENCES "bff"."file_sale"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bff"."file_ticket" ADD CONSTRAINT "file_ticket_payment_id_file_purchase_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "bff"."file_purchase"("payment_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "file_purchase_owner" ON "bff"."file_purchase" USING btree ("file_id","wallet");--> statement-breakpoint
CREATE INDEX "file_purchase_open" ON "bff"."file_purchase" USING btree ("sending_until") WHERE delivered_at is null and reported_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "file_sale_code" ON "bff"."file_sale" USING btree ("code");--> statement-breakpoint
CREATE INDEX "file_sale_created" ON "bff"."file_sale" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "file_ticket_expires" ON "bff"."file_ticket" USING btree ("expires_at");