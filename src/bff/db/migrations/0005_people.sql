CREATE TABLE "bff"."audit_entry" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bff"."audit_entry_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone NOT NULL,
	"wallet" text NOT NULL,
	"role" text NOT NULL,
	"action" text NOT NULL,
	"subject" text,
	"request_id" text NOT NULL,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "bff"."invitation" (
	"id" text PRIMARY KEY NOT NULL,
	"code_hash" text NOT NULL,
	"role" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."wallet_role" (
	"wallet" text PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"given_by" text NOT NULL,
	"given_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "invitation_code" ON "bff"."invitation" USING btree ("code_hash");
--> statement-breakpoint
-- Written by hand: what became of a change is recorded once.
CREATE TRIGGER "audit_entry_kept" BEFORE UPDATE ON "bff"."audit_entry" FOR EACH ROW
  WHEN (OLD."outcome" IS NOT NULL) EXECUTE FUNCTION "bff"."keep_row"();
