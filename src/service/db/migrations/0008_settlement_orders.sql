CREATE TABLE "service"."settlement_order" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"network" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"signature" text,
	"memo" text,
	"last_valid_block_height" bigint,
	"checks" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "service"."settlement_order" ADD CONSTRAINT "settlement_order_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."settlement_order" ADD CONSTRAINT "settlement_order_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_order_question" ON "service"."settlement_order" USING btree ("account_id","network","key","fingerprint");