-- Written by hand. The rows that no program may take out of the ledger, in the tables from which it deletes others. What a role may do at all: src/service/db/migrations-folder.ts.
CREATE FUNCTION "service"."keep_row"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a row of service.% is part of the ledger and stays', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
--> statement-breakpoint
-- A transfer that was used up stays used up, for the same payment. What a person assigned yields to evidence and can be undone.
CREATE TRIGGER "claim_kept" BEFORE DELETE ON "service"."claim" FOR EACH ROW
  WHEN (OLD."consumed_at" IS NOT NULL AND OLD."attempt" <> 'assigned') EXECUTE FUNCTION "service"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "claim_used_up" BEFORE UPDATE ON "service"."claim" FOR EACH ROW
  WHEN (OLD."consumed_at" IS NOT NULL AND OLD."attempt" <> 'assigned'
    AND (NEW."consumed_at" IS NULL OR NEW."attempt" = 'assigned' OR NEW."payment_id" IS DISTINCT FROM OLD."payment_id")) EXECUTE FUNCTION "service"."keep_row"();
--> statement-breakpoint
-- A transfer in a final block was money.
CREATE TRIGGER "unmatched_transfer_kept" BEFORE DELETE ON "service"."unmatched_transfer" FOR EACH ROW
  WHEN (OLD."finalized_at" IS NOT NULL) EXECUTE FUNCTION "service"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "unmatched_transfer_final" BEFORE UPDATE ON "service"."unmatched_transfer" FOR EACH ROW
  WHEN (OLD."finalized_at" IS NOT NULL AND NEW."finalized_at" IS NULL) EXECUTE FUNCTION "service"."keep_row"();
--> statement-breakpoint
-- An order whose settlement landed says what was settled.
CREATE FUNCTION "service"."keep_settled_order"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM "service"."payment" WHERE "id" = OLD."payment_id" AND "status" IN ('confirmed', 'finalized')) THEN
    RAISE EXCEPTION 'a row of service.settlement_order is part of the ledger and stays' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;
--> statement-breakpoint
CREATE TRIGGER "settlement_order_kept" BEFORE DELETE ON "service"."settlement_order" FOR EACH ROW EXECUTE FUNCTION "service"."keep_settled_order"();
