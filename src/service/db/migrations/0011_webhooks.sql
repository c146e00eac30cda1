CREATE TABLE "service"."webhook_delivery" (
	"endpoint_id" text NOT NULL,
	"id" text NOT NULL,
	"number" bigint,
	"previous" bigint,
	"payment_id" text NOT NULL,
	"type" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone NOT NULL,
	"retry_until" timestamp (3) with time zone NOT NULL,
	"body" text,
	"last_attempt_at" timestamp (3) with time zone,
	"duration_ms" integer,
	"response_status" integer,
	"response_body" text,
	"failure" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhook_delivery_endpoint_id_id_pk" PRIMARY KEY("endpoint_id","id")
);
--> statement-breakpoint
CREATE TABLE "service"."webhook_endpoint" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"secrets" jsonb NOT NULL,
	"cursor" bigint NOT NULL,
	"holder" text,
	"lease_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "service"."webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "service"."webhook_endpoint"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_delivery_number" ON "service"."webhook_delivery" USING btree ("endpoint_id","number");--> statement-breakpoint
CREATE INDEX "webhook_delivery_created" ON "service"."webhook_delivery" USING btree ("endpoint_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_age" ON "service"."webhook_delivery" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhook_delivery_due" ON "service"."webhook_delivery" USING btree ("endpoint_id","next_attempt_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_delivery_waiting" ON "service"."webhook_delivery" USING btree ("endpoint_id","payment_id","number") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_endpoint_account" ON "service"."webhook_endpoint" USING btree ("account_id","created_at");