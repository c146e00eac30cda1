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
