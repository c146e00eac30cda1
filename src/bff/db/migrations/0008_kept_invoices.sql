-- Written by hand. An invoice with a number stays, and only its state and its customer change: from then on, the customer can only go.
CREATE TRIGGER "invoice_issued" BEFORE DELETE ON "bff"."invoice" FOR EACH ROW
  WHEN (OLD."state" <> 'draft') EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "invoice_kept" BEFORE UPDATE ON "bff"."invoice" FOR EACH ROW
  WHEN (OLD."state" <> 'draft' AND (
    NEW."state" = 'draft'
    OR (NEW."customer_id" IS NOT NULL AND NEW."customer_id" IS DISTINCT FROM OLD."customer_id")
    OR (NEW."id", NEW."sequence", NEW."number", NEW."issued_on", NEW."due_on", NEW."currency", NEW."lines", NEW."total", NEW."note", NEW."link_id")
      IS DISTINCT FROM
      (OLD."id", OLD."sequence", OLD."number", OLD."issued_on", OLD."due_on", OLD."currency", OLD."lines", OLD."total", OLD."note", OLD."link_id")
  )) EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
-- No number is given twice or left out.
CREATE TRIGGER "invoice_numbering_stays" BEFORE DELETE ON "bff"."invoice_numbering" FOR EACH ROW
  EXECUTE FUNCTION "bff"."keep_row"();
--> statement-breakpoint
CREATE TRIGGER "invoice_numbering_kept" BEFORE UPDATE ON "bff"."invoice_numbering" FOR EACH ROW
  WHEN (NEW."id" <> OLD."id" OR NEW."last" NOT IN (OLD."last", OLD."last" + 1)) EXECUTE FUNCTION "bff"."keep_row"();
