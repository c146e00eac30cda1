CREATE SCHEMA "bff";
--> statement-breakpoint
CREATE TABLE "bff"."challenge" (
	"id" text PRIMARY KEY NOT NULL,
	"origin" text NOT NULL,
	"browser_hash" text NOT NULL,
	"wallet" text NOT NULL,
	"message" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."hosted_intent" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"signer" text NOT NULL,
	"network" text NOT NULL,
	"sender" text NOT NULL,
	"recipient" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"resource" text,
	"description" text,
	"reference" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"state" text NOT NULL,
	"signature_hash" text,
	"taken_at" timestamp (3) with time zone,
	"payment_id" text
);
--> statement-breakpoint
CREATE TABLE "bff"."link_key" (
	"id" text PRIMARY KEY NOT NULL,
	"secret" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."link_payment" (
	"id" text PRIMARY KEY NOT NULL,
	"link_id" text NOT NULL,
	"session_id" text,
	"request_key" text,
	"payment_id" text,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."payment_link" (
	"id" text PRIMARY KEY NOT NULL,
	"link" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"max_payments" integer,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"withdrawn_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "bff"."payment_note" (
	"owner" text NOT NULL,
	"payment_id" text NOT NULL,
	"labels" text[] NOT NULL,
	"note" text NOT NULL,
	"reconciled_at" timestamp (3) with time zone,
	"updated_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_note_owner_payment_id_pk" PRIMARY KEY("owner","payment_id")
);
--> statement-breakpoint
CREATE TABLE "bff"."session" (
	"id" text PRIMARY KEY NOT NULL,
	"cookie_hash" text NOT NULL,
	"wallets" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"idle_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."session_payment" (
	"session_id" text NOT NULL,
	"payment_id" text NOT NULL,
	"sender" text,
	"created_at" timestamp (3) with time zone,
	CONSTRAINT "session_payment_session_id_payment_id_pk" PRIMARY KEY("session_id","payment_id")
);
--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD CONSTRAINT "link_payment_link_id_payment_link_id_fk" FOREIGN KEY ("link_id") REFERENCES "bff"."payment_link"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bff"."session_payment" ADD CONSTRAINT "session_payment_session_id_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "bff"."session"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "challenge_expires" ON "bff"."challenge" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "hosted_intent_spent" ON "bff"."hosted_intent" USING btree ("sender","network","asset","taken_at");--> statement-breakpoint
CREATE INDEX "hosted_intent_expires" ON "bff"."hosted_intent" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "link_payment_link" ON "bff"."link_payment" USING btree ("link_id","status");--> statement-breakpoint
CREATE UNIQUE INDEX "link_payment_payment" ON "bff"."link_payment" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "payment_link_created" ON "bff"."payment_link" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "session_cookie" ON "bff"."session" USING btree ("cookie_hash");--> statement-breakpoint
CREATE INDEX "session_expires" ON "bff"."session" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "session_payment_payment" ON "bff"."session_payment" USING btree ("payment_id");
