ALTER TABLE "service"."claim" ADD COLUMN "granted_call" text;--> statement-breakpoint
CREATE INDEX "attempt_broadcast" ON "service"."attempt" USING btree ("network","signer","broadcast_at") WHERE signer is not null;--> statement-breakpoint
CREATE INDEX "payment_payable" ON "service"."payment" USING btree ("account_id","sender","recipient") WHERE mode = 'local' and status in ('created', 'pending', 'rolled_back', 'expired');--> statement-breakpoint
CREATE INDEX "payment_nonce_queue_changed" ON "service"."payment" USING btree ("network","sender","updated_at") WHERE mode = 'hosted';