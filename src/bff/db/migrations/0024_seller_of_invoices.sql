ALTER TABLE "bff"."invoice" ADD COLUMN "seller" jsonb;--> statement-breakpoint
ALTER TABLE "bff"."invoice_numbering" ADD COLUMN "seller" jsonb;--> statement-breakpoint
-- By hand: an invoice with a number keeps the seller that it was issued with.
DROP TRIGGER "invoice_kept" ON "bff"."invoice";--> statement-breakpoint
CREATE TRIGGER "invoice_kept" BEFORE UPDATE ON "bff"."invoice" FOR EACH ROW
  WHEN (OLD."state" <> 'draft' AND (
    NEW."state" = 'draft'
    OR (NEW."customer_id" IS NOT NULL AND NEW."customer_id" IS DISTINCT FROM OLD."customer_id")
    OR (OLD."customer_removed_at" IS NOT NULL AND NEW."customer_removed_at" IS DISTINCT FROM OLD."customer_removed_at")
    OR (NEW."id", NEW."sequence", NEW."number", NEW."issued_on", NEW."due_on", NEW."seller", NEW."currency", NEW."lines", NEW."total", NEW."note", NEW."link_id")
      IS DISTINCT FROM
      (OLD."id", OLD."sequence", OLD."number", OLD."issued_on", OLD."due_on", OLD."seller", OLD."currency", OLD."lines", OLD."total", OLD."note", OLD."link_id")
  )) EXECUTE FUNCTION "bff"."keep_row"();
