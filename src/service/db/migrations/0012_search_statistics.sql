DROP INDEX "service"."payment_resource";--> statement-breakpoint
DROP INDEX "service"."payment_reference";--> statement-breakpoint
CREATE INDEX "payment_resource" ON "service"."payment" USING btree ("account_id",left(lower(regexp_replace(resource, '^https?://', '')), 200) text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_reference" ON "service"."payment" USING btree ("account_id",left(substring(metadata from '"referenceId":("(?:[^"\\]|\\.)*")'), 200));