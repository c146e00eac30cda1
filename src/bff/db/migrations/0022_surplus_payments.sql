ALTER TABLE "bff"."link_payment" ADD COLUMN "refunded" text;--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD COLUMN "surplus" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "link_payment_surplus" ON "bff"."link_payment" USING btree ("link_id","arrival") WHERE surplus;--> statement-breakpoint
CREATE INDEX "link_payment_owed" ON "bff"."link_payment" USING btree ("created_at","id") WHERE surplus;--> statement-breakpoint
CREATE INDEX "link_payment_unclear" ON "bff"."link_payment" USING btree ("checked_at" NULLS FIRST,"link_id") WHERE surplus or refunded = 'full';--> statement-breakpoint
-- By hand: payments that arrived before there were numbers of arrival get the next ones.
UPDATE "bff"."link_payment" SET "arrival" = "numbered"."number" FROM (
  SELECT "id", (coalesce(max("arrival") OVER (PARTITION BY "link_id"), 0)
    + row_number() OVER (PARTITION BY "link_id", "arrival" IS NULL ORDER BY "created_at", "id"))::integer AS "number"
  FROM "bff"."link_payment" WHERE "arrival" IS NOT NULL OR "status" IN ('confirmed', 'finalized')
) AS "numbered"
WHERE "numbered"."id" = "link_payment"."id" AND "link_payment"."arrival" IS NULL;--> statement-breakpoint
-- By hand: what was owed before, by the rule of src/bff/db/surplus.ts. What was refunded of it, the service is asked.
UPDATE "bff"."link_payment" SET "surplus" = true FROM (
  SELECT "made"."id", row_number() OVER (PARTITION BY "made"."link_id" ORDER BY "made"."arrival") AS "place",
    CASE "bill"."state" WHEN 'void' THEN 0 ELSE "link"."max_payments" END AS "takes"
  FROM "bff"."link_payment" AS "made"
  JOIN "bff"."payment_link" AS "link" ON "link"."id" = "made"."link_id" AND "link"."max_payments" IS NOT NULL
  LEFT JOIN "bff"."invoice" AS "bill" ON "bill"."link_id" = "link"."id"
  WHERE "made"."status" IN ('confirmed', 'finalized')
) AS "ranked"
WHERE "ranked"."id" = "link_payment"."id" AND "ranked"."place" > "ranked"."takes";
