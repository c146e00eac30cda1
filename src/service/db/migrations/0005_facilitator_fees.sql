CREATE TABLE "service"."refused_payer" (
	"network" text NOT NULL,
	"payer" text NOT NULL,
	"payment_id" text NOT NULL,
	"transaction" text NOT NULL,
	"refused_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "refused_payer_network_payer_pk" PRIMARY KEY("network","payer")
);
--> statement-breakpoint
CREATE TABLE "service"."settlement_fee" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"wallet" text NOT NULL,
	"scope" text NOT NULL,
	"reserved" numeric(78,0) NOT NULL,
	"paid" numeric(78,0),
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "service"."refused_payer" ADD CONSTRAINT "refused_payer_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."settlement_fee" ADD CONSTRAINT "settlement_fee_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "refused_payer_until" ON "service"."refused_payer" USING btree ("refused_until");--> statement-breakpoint
CREATE INDEX "settlement_fee_wallet" ON "service"."settlement_fee" USING btree ("network","wallet","created_at");--> statement-breakpoint
CREATE INDEX "settlement_fee_scope" ON "service"."settlement_fee" USING btree ("network","scope","created_at");