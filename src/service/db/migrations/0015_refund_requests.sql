CREATE TABLE "service"."refund_request" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"payment_id" text NOT NULL,
	"number" integer NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"reason" text,
	"signature" text NOT NULL,
	"earlier_refunds" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"declined_at" timestamp (3) with time zone,
	"declined_by" text,
	"decline_note" text,
	"settled_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "service"."refund_request" ADD CONSTRAINT "refund_request_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."refund_request" ADD CONSTRAINT "refund_request_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "refund_request_number" ON "service"."refund_request" USING btree ("payment_id","number");--> statement-breakpoint
CREATE INDEX "refund_request_open" ON "service"."refund_request" USING btree ("account_id","created_at","id") WHERE declined_at is null and settled_at is null;