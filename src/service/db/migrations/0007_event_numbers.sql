CREATE TABLE "service"."event_numbering" (
	"id" integer PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL,
	"holder" text,
	"lease_until" timestamp (3) with time zone
);
--> statement-breakpoint
DROP INDEX "service"."event_account";--> statement-breakpoint
ALTER TABLE "service"."event" ADD COLUMN "number" bigint;--> statement-breakpoint
-- Written by hand, before the indexes. The ids of events were their order until here: readers resume where they are.
UPDATE "service"."event" SET "number" = "id";--> statement-breakpoint
INSERT INTO "service"."event_numbering" ("id", "last") SELECT 1, coalesce(max("id"), 0) FROM "service"."event";--> statement-breakpoint
CREATE UNIQUE INDEX "event_number" ON "service"."event" USING btree ("number");--> statement-breakpoint
CREATE INDEX "event_unnumbered" ON "service"."event" USING btree ("id") WHERE number is null;--> statement-breakpoint
CREATE INDEX "event_account" ON "service"."event" USING btree ("account_id","number") WHERE not draft;--> statement-breakpoint
-- Written by hand. Readers have the numbers of events as their positions.
CREATE TRIGGER "event_number_kept" BEFORE UPDATE OF "number" ON "service"."event" FOR EACH ROW
  WHEN (OLD."number" IS NOT NULL AND NEW."number" IS DISTINCT FROM OLD."number") EXECUTE FUNCTION "service"."keep_row"();
