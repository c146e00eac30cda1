CREATE TABLE "service"."network_affirmation" (
	"network" text PRIMARY KEY NOT NULL,
	"epoch" integer NOT NULL,
	"begun_at_height" bigint NOT NULL,
	"affirmed_height" bigint
);
--> statement-breakpoint
ALTER TABLE "service"."deployment" ADD COLUMN "epoch" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."deployment" ADD COLUMN "restored_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "service"."wallet_ledger" ADD COLUMN "block_hash" text;--> statement-breakpoint
ALTER TABLE "service"."wallet_ledger" ADD COLUMN "affirmed_epoch" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."wallet_ledger" ADD COLUMN "unaccounted" text;--> statement-breakpoint
ALTER TABLE "service"."wallet_ledger" ADD COLUMN "accepted" text;