-- Written by hand: names change, no row is rewritten.
ALTER TABLE "service"."wallet_books" RENAME TO "wallet_ledger";--> statement-breakpoint
-- The primary key, and NOT NULL where the server names it (Postgres 18).
DO $$
DECLARE
  "former" text;
BEGIN
  FOR "former" IN
    SELECT conname FROM pg_constraint WHERE conrelid = '"service"."wallet_ledger"'::regclass AND starts_with(conname, 'wallet_books_')
  LOOP
    EXECUTE format('ALTER TABLE "service"."wallet_ledger" RENAME CONSTRAINT %I TO %I', "former", replace("former", 'wallet_books_', 'wallet_ledger_'));
  END LOOP;
END $$;
--> statement-breakpoint
ALTER INDEX "service"."payment_lane" RENAME TO "payment_nonce_queue";
