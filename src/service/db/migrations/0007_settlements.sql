ALTER TABLE "service"."attempt" ADD COLUMN "signer" text;--> statement-breakpoint
CREATE INDEX "attempt_signer" ON "service"."attempt" USING btree ("network","signer","nonce");