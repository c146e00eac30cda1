-- Written by hand. The rows that the proxy keeps, in the tables from which it deletes others. What a role may do at all: src/bff/db/migrations-folder.ts.
CREATE FUNCTION "bff"."keep_row"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a row of bff.% is a record of a payment and stays', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
--> statement-breakpoint
-- The use of a link by a payment that was built counts against the link's limit.
CREATE TRIGGER "link_payment_kept" BEFORE DELETE ON "bff"."link_payment" FOR EACH ROW
  WHEN (OLD."payment_id" IS NOT NULL) EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
-- What an operator signed counts against the wallet's cap of the day.
CREATE TRIGGER "hosted_intent_kept" BEFORE DELETE ON "bff"."hosted_intent" FOR EACH ROW
  WHEN (OLD."state" <> 'open') EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "hosted_intent_signed" BEFORE UPDATE ON "bff"."hosted_intent" FOR EACH ROW
  WHEN (OLD."state" <> 'open' AND NEW."state" = 'open') EXECUTE FUNCTION "bff"."keep_row"();
