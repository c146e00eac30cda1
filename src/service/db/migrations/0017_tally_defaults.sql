ALTER TABLE "service"."payment_tally" ALTER COLUMN "amount" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ALTER COLUMN "refunds" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ALTER COLUMN "refunded" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ALTER COLUMN "fees" DROP DEFAULT;