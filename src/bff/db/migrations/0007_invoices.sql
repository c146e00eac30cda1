CREATE TABLE "bff"."invoice" (
	"id" text PRIMARY KEY NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "bff"."invoice_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"state" text NOT NULL,
	"sequence" integer,
	"number" text,
	"issued_on" text,
	"due_on" text NOT NULL,
	"customer_id" text,
	"currency" jsonb NOT NULL,
	"lines" jsonb NOT NULL,
	"total" text NOT NULL,
	"note" text,
	"link_id" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."invoice_customer" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text,
	"address" text,
	"used_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."invoice_numbering" (
	"id" integer PRIMARY KEY NOT NULL,
	"prefix" text NOT NULL,
	"last" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "bff"."invoice" ADD CONSTRAINT "invoice_customer_id_invoice_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "bff"."invoice_customer"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bff"."invoice" ADD CONSTRAINT "invoice_link_id_payment_link_id_fk" FOREIGN KEY ("link_id") REFERENCES "bff"."payment_link"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_position" ON "bff"."invoice" USING btree ("position");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_sequence" ON "bff"."invoice" USING btree ("sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_number" ON "bff"."invoice" USING btree ("number");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_link" ON "bff"."invoice" USING btree ("link_id");--> statement-breakpoint
CREATE INDEX "invoice_customer_id" ON "bff"."invoice" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "invoice_customer_name" ON "bff"."invoice_customer" USING btree ("name");--> statement-breakpoint
CREATE INDEX "invoice_customer_email" ON "bff"."invoice_customer" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "invoice_customer_used" ON "bff"."invoice_customer" USING btree ("used_at");