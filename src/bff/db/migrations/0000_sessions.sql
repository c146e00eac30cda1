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
	CONSTRAINT "session_payment_session_id_payment_id_pk" PRIMARY KEY("session_id","payment_id")
);
--> statement-breakpoint
ALTER TABLE "bff"."session_payment" ADD CONSTRAINT "session_payment_session_id_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "bff"."session"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "challenge_expires" ON "bff"."challenge" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "session_cookie" ON "bff"."session" USING btree ("cookie_hash");--> statement-breakpoint
CREATE INDEX "session_expires" ON "bff"."session" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "session_payment_payment" ON "bff"."session_payment" USING btree ("payment_id");