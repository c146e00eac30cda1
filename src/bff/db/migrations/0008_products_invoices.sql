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
ALTER TABLE "bff"."invoice" ADD CONSTRAINT "invoice_customer_id_invoice_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "bff"."invoice_customer"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bff"."invoice" ADD CONSTRAINT "invoice_link_id_payment_link_id_fk" FOREIGN KEY ("link_id") REFERENCES "bff"."payment_link"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bff"."product" ADD CONSTRAINT "product_image_id_product_image_id_fk" FOREIGN KEY ("image_id") REFERENCES "bff"."product_image"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_position" ON "bff"."invoice" USING btree ("position");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_sequence" ON "bff"."invoice" USING btree ("sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_number" ON "bff"."invoice" USING btree ("number");--> statement-breakpoint
CREATE UNIQUE INDEX "invoice_link" ON "bff"."invoice" USING btree ("link_id");--> statement-breakpoint
CREATE INDEX "invoice_customer_id" ON "bff"."invoice" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "invoice_customer_name" ON "bff"."invoice_customer" USING btree ("name");--> statement-breakpoint
CREATE INDEX "invoice_customer_email" ON "bff"."invoice_customer" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "invoice_customer_used" ON "bff"."invoice_customer" USING btree ("used_at");--> statement-breakpoint
CREATE INDEX "product_created" ON "bff"."product" USING btree ("created_at");--> statement-breakpoint
-- Written by hand. An invoice with a number stays, and only its state and its customer change: from then on, the customer can only go.
CREATE TRIGGER "invoice_issued" BEFORE DELETE ON "bff"."invoice" FOR EACH ROW
  WHEN (OLD."state" <> 'draft') EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "invoice_kept" BEFORE UPDATE ON "bff"."invoice" FOR EACH ROW
  WHEN (OLD."state" <> 'draft' AND (
    NEW."state" = 'draft'
    OR (NEW."customer_id" IS NOT NULL AND NEW."customer_id" IS DISTINCT FROM OLD."customer_id")
    OR (NEW."id", NEW."sequence", NEW."number", NEW."issued_on", NEW."due_on", NEW."currency", NEW."lines", NEW."total", NEW."note", NEW."link_id")
      IS DISTINCT FROM
      (OLD."id", OLD."sequence", OLD."number", OLD."issued_on", OLD."due_on", OLD."currency", OLD."lines", OLD."total", OLD."note", OLD."link_id")
  )) EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
-- No number is given twice or left out.
CREATE TRIGGER "invoice_numbering_stays" BEFORE DELETE ON "bff"."invoice_numbering" FOR EACH ROW
  EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "invoice_numbering_kept" BEFORE UPDATE ON "bff"."invoice_numbering" FOR EACH ROW
  WHEN (NEW."id" <> OLD."id" OR NEW."last" NOT IN (OLD."last", OLD."last" + 1)) EXECUTE FUNCTION "bff"."keep_row"();
