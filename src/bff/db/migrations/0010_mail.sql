CREATE TABLE "bff"."mail_address" (
	"wallet" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"language" text NOT NULL,
	"kinds" text[] NOT NULL,
	"code" text,
	"code_expires_at" timestamp (3) with time zone,
	"code_attempts" integer NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"unsubscribe_token" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."mail_cursor" (
	"id" integer PRIMARY KEY NOT NULL,
	"position" bigint,
	"events_at" timestamp (3) with time zone NOT NULL,
	"lists_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."mail_item" (
	"wallet" text NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"facts" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"message_id" text,
	CONSTRAINT "mail_item_wallet_key_pk" PRIMARY KEY("wallet","key")
);
--> statement-breakpoint
CREATE TABLE "bff"."mail_message" (
	"id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"kind" text NOT NULL,
	"address_hash" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer NOT NULL,
	"next_attempt_at" timestamp (3) with time zone NOT NULL,
	"failure" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "mail_address_token" ON "bff"."mail_address" USING btree ("unsubscribe_token");--> statement-breakpoint
CREATE INDEX "mail_item_waiting" ON "bff"."mail_item" USING btree ("wallet","created_at") WHERE message_id is null;--> statement-breakpoint
CREATE INDEX "mail_item_message" ON "bff"."mail_item" USING btree ("message_id");--> statement-breakpoint
CREATE INDEX "mail_message_due" ON "bff"."mail_message" USING btree ("next_attempt_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "mail_message_wallet" ON "bff"."mail_message" USING btree ("wallet","created_at");--> statement-breakpoint
CREATE INDEX "mail_message_created" ON "bff"."mail_message" USING btree ("created_at");