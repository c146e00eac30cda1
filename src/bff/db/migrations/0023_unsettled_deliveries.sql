DROP INDEX "bff"."file_purchase_open";--> statement-breakpoint
CREATE INDEX "file_purchase_open" ON "bff"."file_purchase" USING btree ("sending_until") WHERE sending_until is not null;